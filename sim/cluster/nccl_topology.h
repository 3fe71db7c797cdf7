#pragma once

#include <string>

#include "sim/cluster/imported_node.h"

namespace moesim {

// A node from the XML that NCCL and RCCL write to NCCL_TOPO_DUMP_FILE (version 1, and 2 with xGMI),
// or from one of the files that clouds give them for virtual machines, which only have processors
// and PCI devices. Throws Error located in the text where it is none, or says what cannot be.
ImportedNode read_nccl_topology(const std::string& text, const std::string& path);

}  // namespace moesim
