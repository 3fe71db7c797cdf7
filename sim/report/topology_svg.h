#pragma once

#include <string>

#include "sim/cluster/topology.h"

namespace moesim {

// A picture of the fabric, in which long rows are cut short, and of one node with its parts in
// layers: memory and sockets, root ports and PCIe switches, GPUs and NICs, and what joins those.
std::string to_svg(const Topology& topology, const std::string& name, int node);

}  // namespace moesim
