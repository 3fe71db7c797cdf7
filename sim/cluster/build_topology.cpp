#include "sim/cluster/build_topology.h"

#include <boost/pending/disjoint_sets.hpp>
#include <fmt/core.h>

#include "sim/base/check.h"
#include "sim/base/error.h"
#include "sim/cluster/fabric.h"
#include "sim/cluster/import_node.h"
#include "sim/cluster/link_changes.h"

namespace moesim {
namespace {

// Errors of what `make` makes, located.
template <typename Make>
auto located(const std::string& location, const Make& make) {
  try {
    return make();
  } catch (const Error& error) {
    throw Error(error.location().empty() ? location : error.location(), error.text());
  }
}

void check_connected(const Topology& topology, const std::string& location) {
  boost::disjoint_sets_with_storage<> parts(topology.elements().size());
  for (int i = 0; i < std::ssize(topology.links()); ++i) {
    if (topology.rate(i) > 0) {
      parts.union_set(topology.links()[i].from, topology.links()[i].to);
    }
  }
  const int first = topology.gpus().front();
  for (const int gpu : topology.gpus()) {
    if (parts.find_set(gpu) != parts.find_set(first)) {
      throw Error(location,
                  fmt::format("no way from {} to {}; join them",
                              name(topology.elements()[first]),
                              name(topology.elements()[gpu])));
    }
  }
}

}  // namespace

NodeGraph node_graph(const NodeGroup& group, int gpus_per_node) {
  return located(group.location, [&] {
    const auto* dump = std::get_if<NodeDump>(&group.node);
    return dump == nullptr ? generate_node(std::get<NodeSpec>(group.node), gpus_per_node)
                           : import_node(*dump, gpus_per_node);
  });
}

Topology build_topology(const Cluster& cluster) {
  CHECK(cluster.wiring.has_value());
  const Wiring& wiring = *cluster.wiring;
  Topology topology;
  std::vector<double> nic_rates;
  for (int group = 0; group < std::ssize(wiring.nodes); ++group) {
    const NodeGraph graph = node_graph(wiring.nodes[group], cluster.gpus_per_node);
    located(wiring.nodes[group].location, [&] {
      const double count = wiring.nodes[group].count;
      check_size(topology,
                 count * static_cast<double>(graph.parts.size()),
                 count * static_cast<double>(graph.cables.size()));
    });
    for (int i = 0; i < wiring.nodes[group].count; ++i) {
      topology.add_node(graph, group);
      nic_rates.insert(nic_rates.end(), graph.nic_rates.begin(), graph.nic_rates.end());
    }
  }
  located(wiring.fabric.location, [&] { add_fabric(wiring.fabric, nic_rates, topology); });
  apply_changes(wiring.changes, topology);
  topology.index_links();
  check_connected(topology, wiring.nodes.front().location);
  return topology;
}

}  // namespace moesim
