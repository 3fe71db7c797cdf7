#include <algorithm>
#include <string>

#include <fmt/core.h>

#include "sim/base/check.h"
#include "sim/cluster/cluster_links.h"
#include "sim/engine/uncontended_work.h"
#include "sim/report/port_names.h"
#include "sim/report/result.h"

namespace moesim {
namespace {

// The first link that the medium carries.
std::string name_of(const Topology& topology, int medium) {
  const auto link = std::ranges::find(topology.links(), medium, &Link::medium);
  return link_name(topology, static_cast<int>(link - topology.links().begin()));
}

}  // namespace

// No order of a rank's collectives can end before its busiest port has carried its share.
LowerBounds uncontended_bounds(const ResultInputs& inputs) {
  CHECK(inputs.program != nullptr);
  return uncontended_bounds(inputs,
                            uncontended_work(*inputs.program, inputs.cluster, inputs.profile));
}

LowerBounds uncontended_bounds(const ResultInputs& inputs, const UncontendedWork& work) {
  LowerBounds bounds = lower_bounds(*inputs.program, work.ranks);
  for (int port = 0; port < kNumPorts; ++port) {
    if (work.port_loads[port] > bounds.busiest) {
      bounds.busiest = work.port_loads[port];
      bounds.busiest_name = fmt::format("port {}", kPortNames[port]);
    }
  }
  for (const MediumWork& medium : work.media) {
    if (medium.load > bounds.busiest) {
      bounds.busiest = medium.load;
      bounds.busiest_name =
          fmt::format("link {}", name_of(inputs.cluster->links->topology, medium.medium));
    }
  }
  return bounds;
}

}  // namespace moesim
