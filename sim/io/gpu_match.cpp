#include "sim/io/gpu_match.h"

#include <fmt/core.h>

#include "sim/base/message.h"

namespace moesim {

std::string gpu_mismatch(const Profile& profile, const Cluster& cluster) {
  const bool computes = profile.gemm.has_value() || profile.memory_bytes_per_second.has_value() ||
                        !profile.operations.empty();
  if (!computes || profile.gpu.empty() || cluster.gpu.empty() || profile.gpu == cluster.gpu) {
    return {};
  }
  return fmt::format(
      "costs of computing in profile '{}' are of {}, the GPUs of cluster '{}' are {}",
      visible_in_line(profile.name),
      visible_in_line(profile.gpu),
      visible_in_line(cluster.name),
      visible_in_line(cluster.gpu));
}

}  // namespace moesim
