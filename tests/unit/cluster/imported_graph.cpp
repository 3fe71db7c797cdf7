#include "tests/unit/cluster/imported_graph.h"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "sim/base/error.h"
#include "sim/cluster/import_node.h"

namespace moesim {
namespace {

std::string part_name(const NodeGraph::Part& part) {
  return fmt::format("{}:{}", name(part.kind), part.index);
}

}  // namespace

NodeGraph import_example(const ExampleDump& example) {
  return import_node(example.dump, example.num_gpus);
}

ExampleDump changed(ExampleDump example, const std::string& from, const std::string& to) {
  const std::size_t at = example.dump.text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  if (at != std::string::npos) {
    example.dump.text.replace(at, from.size(), to);
  }
  return example;
}

double rate_between(const NodeGraph& graph, const std::string& a, const std::string& b) {
  for (const Cable& cable : graph.cables) {
    const std::string from = part_name(graph.parts[cable.a]);
    const std::string to = part_name(graph.parts[cable.b]);
    if ((from == a && to == b) || (from == b && to == a)) {
      return cable.rate;
    }
  }
  return 0;
}

std::string above(const NodeGraph& graph, const std::string& part) {
  for (const Cable& cable : graph.cables) {
    if (cable.kind == LinkKind::kPcie && part_name(graph.parts[cable.a]) == part) {
      return part_name(graph.parts[cable.b]);
    }
  }
  return "";
}

std::string inferred(const NodeGraph& graph) {
  return fmt::format("{}", fmt::join(graph.inferred, "\n"));
}

std::string import_error(const ExampleDump& example) {
  try {
    import_example(example);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace moesim
