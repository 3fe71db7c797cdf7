#pragma once

#include <string>
#include <vector>

#include "sim/cluster/topology.h"

namespace moesim {

// Colours of links by how busy they are.
struct Shading {
  const std::vector<double>* of_medium = nullptr;  // utilisation
  double most = 0;                                 // of any; has the last colour of the scale
  std::vector<std::string> caption;                // lines under the picture's title
};

// A picture of the fabric, in which long rows are cut short, and of one node with its parts in
// layers: memory and sockets, root ports and PCIe switches, GPUs and NICs, and what joins those.
// Without `shading` links have the colours of their kinds; with it `node` is drawn in the fabric
// too.
std::string to_svg(const Topology& topology,
                   const std::string& name,
                   int node,
                   const Shading* shading = nullptr);

}  // namespace moesim
