#pragma once

#include <string>
#include <vector>

#include "sim/cluster/link_rates.h"
#include "sim/cluster/node_graph.h"
#include "sim/io/wiring.h"

namespace moesim {

// One node as read from a dump, whatever its format. Rates are in bytes per second; 0 is a rate
// that the dump does not say. A KnownRate is none of the dump's, but inferred.
struct ImportedNode {
  // Joined to every other one.
  struct Socket {
    KnownRate memory;
    KnownRate interconnect;
  };

  // What hangs in the PCIe tree: a GPU, a NIC or a PCIe switch.
  struct Device {
    ElementKind kind = ElementKind::kGpu;
    int socket = 0;
    int parent = 0;        // a PCIe switch among them; kNone: at a root port of its own
    double pcie_rate = 0;  // of its link upward
    double nic_rate = 0;   // of a NIC: into the fabric
  };

  // NVLink or xGMI between a GPU and another one, or an NVSwitch.
  struct NvLinks {
    int gpu = 0;
    ElementKind to_kind = ElementKind::kNvSwitch;
    int to = 0;  // among its kind
    int count = 0;
    KnownRate link;
    double latency = 0;
  };

  std::vector<Socket> sockets;
  std::vector<Device> devices;  // GPUs among them in the order of their indexes
  std::vector<NvLinks> nvlinks;
  bool knows_nvlinks = true;  // false: there may be some that the dump does not have
  std::vector<std::string> inferred;

  int count(ElementKind kind) const;  // among the devices
};

// Fills in what the dump lacks from the fields beside `import`, and makes the graph. Throws Error
// that names the fields which are missing, or are for nothing as the dump says it all.
NodeGraph make_graph(ImportedNode node, const NodeDump& dump);

}  // namespace moesim
