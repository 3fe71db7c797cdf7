#pragma once

#include <string>

#include "sim/cluster/imported_node.h"

namespace moesim {

// A node that looks like what `nvidia-smi topo -m` prints: the same distances, with as few switches
// as they need. Rates are not known, but that of NVLinks where their number tells the GPU. Throws
// Error located in the text where it is none or contradicts itself.
ImportedNode read_smi_topology(const std::string& text, const std::string& path);

}  // namespace moesim
