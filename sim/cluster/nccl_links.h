#pragma once

#include <vector>

#include "sim/cluster/imported_node.h"
#include "sim/cluster/xml_element.h"

namespace moesim {

// A GPU of an NCCL topology: its PCI device, and what is said of it there.
struct NcclGpu {
  const XmlElement* pci = nullptr;
  const XmlElement* gpu = nullptr;  // the PCI device again where nothing more is said
  int number = 0;
};

// Adds NVLinks and xGMI links between the GPUs, in the order of their indexes. Throws Error where
// two GPUs do not agree on what is between them.
void read_nccl_links(const std::vector<NcclGpu>& gpus, bool said_more, ImportedNode& node);

}  // namespace moesim
