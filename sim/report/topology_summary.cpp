#include "sim/report/topology_summary.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/core.h>

#include "sim/base/check.h"
#include "sim/cluster/bisection.h"
#include "sim/cluster/build_topology.h"
#include "sim/cluster/cluster_links.h"

namespace moesim {
namespace {

constexpr ElementKind kParts[] = {ElementKind::kGpu,
                                  ElementKind::kNic,
                                  ElementKind::kNvSwitch,
                                  ElementKind::kPcieSwitch,
                                  ElementKind::kRootPort,
                                  ElementKind::kSocket,
                                  ElementKind::kMemory};

std::vector<TopologySummary::Nodes> nodes_of(const Cluster& cluster) {
  std::vector<TopologySummary::Nodes> all;
  int first = 0;
  for (const NodeGroup& group : cluster.wiring->nodes) {
    const NodeGraph graph = node_graph(group, cluster.gpus_per_node);
    TopologySummary::Nodes& nodes = all.emplace_back();
    nodes.first = first;
    nodes.count = group.count;
    nodes.inferred = graph.inferred;
    for (const ElementKind kind : kParts) {
      nodes.parts.push_back({kind, graph.count(kind)});
    }
    first += group.count;
  }
  return all;
}

std::vector<TopologySummary::Switches> switches_of(const Topology& topology) {
  std::map<std::pair<int, int>, int> counts;  // by level and width
  for (const Element& element : topology.elements()) {
    if (element.node == kNone) {
      ++counts[{element.level, element.width}];
    }
  }
  std::vector<TopologySummary::Switches> all;
  for (const auto& [key, count] : counts) {
    all.push_back({key.first, count, key.second});
  }
  return all;
}

std::string end_name(const Element& element) {
  return element.kind == ElementKind::kSwitch ? fmt::format("switch {}", element.level)
                                              : name(element.kind);
}

// By kind of link and of its ends, from GPUs outward; then by rate, the fastest first.
std::vector<TopologySummary::Cables> cables_of(const Topology& topology) {
  using Key = std::
      tuple<LinkKind, std::pair<ElementKind, int>, std::pair<ElementKind, int>, double, double>;
  std::map<Key, TopologySummary::Cables> all;
  for (int i = 0; i < std::ssize(topology.links()); i += 2) {
    const Link& link = topology.links()[i];
    const Element* from = &topology.elements()[link.from];
    const Element* to = &topology.elements()[link.to];
    if (std::pair(to->kind, to->level) < std::pair(from->kind, from->level)) {
      std::swap(from, to);
    }
    TopologySummary::Cables& cables = all[{link.kind,
                                           {from->kind, from->level},
                                           {to->kind, to->level},
                                           -topology.rate(i),
                                           link.latency}];
    cables = {link.kind,
              end_name(*from),
              end_name(*to),
              topology.rate(i),
              link.latency,
              link.medium == topology.links()[i + 1].medium,
              cables.count + 1};
  }
  std::vector<TopologySummary::Cables> sorted;
  for (auto& [key, cables] : all) {
    sorted.push_back(std::move(cables));
  }
  return sorted;
}

std::vector<RankPair> example_pairs(const Cluster& cluster) {
  const int last_of_node = cluster.gpus_per_node - 1;
  const int first_of_last = cluster.num_gpus() - cluster.gpus_per_node;
  std::vector<RankPair> pairs;
  for (const int to : {1, last_of_node, first_of_last, cluster.num_gpus() - 1}) {
    const bool is_new = std::ranges::none_of(pairs, [&](const auto& of) { return of.to == to; });
    if (to > 0 && to < cluster.num_gpus() && is_new) {
      pairs.push_back({0, to});
    }
  }
  return pairs;
}

TopologySummary::Way way_of(const ClusterLinks& links, const RankPair& pair) {
  TopologySummary::Way way;
  way.from = pair.from;
  way.to = pair.to;
  way.route = links.routes.between(pair.from, pair.to);
  std::map<int, double> shares;  // by medium
  for (const Hop& hop : way.route) {
    const Link& link = links.topology.links()[hop.link];
    shares[link.medium] += hop.share;
    way.latency += hop.share * link.latency;
  }
  way.rate = std::numeric_limits<double>::infinity();
  for (const auto& [medium, share] : shares) {
    way.rate = std::min(way.rate, links.topology.media()[medium] / share);
  }
  return way;
}

}  // namespace

TopologySummary summarize(const Cluster& cluster, std::vector<RankPair> pairs) {
  TopologySummary summary;
  summary.cluster = cluster;
  if (!cluster.wiring) {
    return summary;
  }
  CHECK(cluster.links != nullptr, "not wired");
  const Topology& topology = cluster.links->topology;
  summary.nodes = nodes_of(cluster);
  summary.switches = switches_of(topology);
  summary.cables = cables_of(topology);
  summary.has_nvlink = std::ranges::any_of(summary.cables, [](const auto& cables) {
    return cables.kind == LinkKind::kNvLink && cables.rate > 0;
  });
  summary.bisection = bisection_bandwidth(topology);
  for (const RankPair& pair : pairs.empty() ? example_pairs(cluster) : pairs) {
    summary.ways.push_back(way_of(*cluster.links, pair));
  }
  return summary;
}

std::string name(PeerAccess access) {
  switch (access) {
    case PeerAccess::kSystem:
      return "SYSTEM";
    case PeerAccess::kSocket:
      return "SOCKET";
    case PeerAccess::kPcieSwitch:
      return "PCIE_SWITCH";
    case PeerAccess::kNever:
      return "NEVER";
  }
  return "";
}

std::string name(LinkKind kind) {
  switch (kind) {
    case LinkKind::kAny:
      return "any";
    case LinkKind::kNvLink:
      return "nvlink";
    case LinkKind::kPcie:
      return "pcie";
    case LinkKind::kInterconnect:
      return "interconnect";
    case LinkKind::kMemory:
      return "memory";
    case LinkKind::kNetwork:
      return "network";
  }
  return "";
}

}  // namespace moesim
