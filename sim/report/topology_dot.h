#pragma once

#include <string>

#include "sim/cluster/topology.h"

namespace moesim {

// A graph in Graphviz's language: one node with its parts, beside it the fabric's switches and the
// other nodes, each as a whole. Links are as wide as they are fast, on a scale of logarithms.
std::string to_dot(const Topology& topology, const std::string& name, int node);

}  // namespace moesim
