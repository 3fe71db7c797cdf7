#include "sim/collective/port_rates.h"

#include <fmt/core.h>

#include "sim/base/error.h"
#include "sim/base/message.h"

namespace moesim {

const PortRate& port_rate(const Cluster& cluster, Span level) {
  return level == Span::kNode ? cluster.intra_node : cluster.inter_node;
}

const PortRate& stated_port_rate(const Cluster& cluster,
                                 Span level,
                                 const Profile& profile,
                                 const std::string& collective) {
  const PortRate& rate = port_rate(cluster, level);
  if (!(rate.bytes_per_second > 0)) {
    throw Error(
        fmt::format("profile '{}' has no figure for {} and cluster '{}' states no rate of that "
                    "port; give one of them",
                    visible_in_line(profile.name),
                    collective,
                    visible_in_line(cluster.name)));
  }
  return rate;
}

}  // namespace moesim
