#pragma once

#include <string>

#include "sim/cluster/node_graph.h"
#include "tests/unit/cluster/example_dumps.h"

namespace moesim {

NodeGraph import_example(const ExampleDump& example);

// The example with one piece of its text replaced, which must be there.
ExampleDump changed(ExampleDump example, const std::string& from, const std::string& to);

// The rate of the cable between two parts, named as in the graph: "gpu:0", "pcie_switch:1". 0:
// none.
double rate_between(const NodeGraph& graph, const std::string& a, const std::string& b);

// What a part hangs at in the PCIe tree; empty: at nothing.
std::string above(const NodeGraph& graph, const std::string& part);

// All that was inferred, a line each.
std::string inferred(const NodeGraph& graph);

// "location: text" of the Error that the import ends with; empty: it does not.
std::string import_error(const ExampleDump& example);

}  // namespace moesim
