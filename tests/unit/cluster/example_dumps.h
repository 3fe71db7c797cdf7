#pragma once

#include <vector>

#include "sim/io/wiring.h"

namespace moesim {

// Small nodes in the formats of the tools, with what they do not say beside them.

struct ExampleDump {
  const char* name;
  int num_gpus;
  NodeDump dump;
};

// NCCL, version 1: two sockets; on each a PCIe switch with a GPU and a NIC; two NVSwitches, of
// which each GPU has 3 and 2 links. GPUs are numbered against the order of the file.
ExampleDump nvswitch_example();
// RCCL, version 2: three GPUs, an xGMI link between each two; two of them below a PCIe switch;
// a NIC that is no PCI device.
ExampleDump xgmi_example();
// A cloud's file for a virtual machine: PCI devices only.
ExampleDump virtual_example();
// nvidia-smi topo -m with tabs, colours, NICs, legends and no NVLink.
ExampleDump pcie_matrix_example();
// With spaces and a prompt: four GPUs behind NVSwitches, no NICs.
ExampleDump nvswitch_matrix_example();
// Two pairs of GPUs with bridges of four links each, and a NIC with the device's name.
ExampleDump bridge_matrix_example();

std::vector<ExampleDump> all_example_dumps();

}  // namespace moesim
