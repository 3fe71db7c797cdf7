#include "kernels/cuda/hardware_queues.h"

#include <cstdlib>
#include <string>

#include <fmt/format.h>

#include "kernels/cuda/context_state.h"
#include "sim/base/check.h"
#include "sim/base/error.h"

namespace moesim {
namespace {

constexpr const char* kVariable = "CUDA_DEVICE_MAX_CONNECTIONS";

}  // namespace

void set_hardware_queues(int queues, int device) {
  CHECK(queues >= 1 && queues <= 32, "{} hardware queues", queues);
  const std::string wanted = std::to_string(queues);
  const char* before = std::getenv(kVariable);
  if (before != nullptr && before == wanted) {
    return;
  }
  if (has_context(device)) {
    throw Failure(
        fmt::format("the context of CUDA device {} was made while {} was {}; start the program "
                    "with {}={}",
                    device,
                    kVariable,
                    before == nullptr ? "not set" : before,
                    kVariable,
                    wanted));
  }
  CHECK(setenv(kVariable, wanted.c_str(), 1) == 0, "{}={}", kVariable, wanted);
}

}  // namespace moesim
