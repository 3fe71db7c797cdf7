#pragma once

#include <string>
#include <vector>

#include "sim/cluster/element.h"
#include "sim/io/wiring.h"

namespace moesim {

// A cable between two parts. Each way has the rate, or, with half duplex, both together.
struct Cable {
  int a = 0;  // index of a part
  int b = 0;
  LinkKind kind = LinkKind::kPcie;
  double rate = 0;  // bytes per second
  double latency = 0;
  bool half_duplex = false;
};

// One node: its parts, GPUs first, and what joins them. What a NIC sends into the fabric goes at
// nic_rates[its index].
struct NodeGraph {
  struct Part {
    ElementKind kind = ElementKind::kGpu;
    int index = 0;  // among its kind
  };

  std::vector<Part> parts;
  std::vector<Cable> cables;
  std::vector<double> nic_rates;
  std::vector<std::string> inferred;  // what a dump did not say, in words

  int add(ElementKind kind);  // the next of its kind; gives its index among the parts
  int count(ElementKind kind) const;

  // Of parts, by their indices.
  void join(int a, int b, LinkKind kind, double rate, double latency = 0);
  // Memory of a socket: reads and writes share its rate.
  void add_memory(int socket, double rate);
};

// A node of so many GPUs as its description says. Throws Error where GPUs, switches, sockets and
// NICs do not divide.
NodeGraph generate_node(const NodeSpec& spec, int num_gpus);

}  // namespace moesim
