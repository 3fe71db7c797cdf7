#pragma once

#include <vector>

#include "sim/cluster/topology.h"
#include "sim/io/wiring.h"

namespace moesim {

// Adds the fabric's switches to a topology whose nodes are there, and joins their NICs. `nic_rates`
// is by NIC, in bytes per second. Throws Error where the fabric has no room for them, or where its
// switches cannot have whole numbers of links.
void add_fabric(const FabricSpec& fabric, const std::vector<double>& nic_rates, Topology& topology);

}  // namespace moesim
