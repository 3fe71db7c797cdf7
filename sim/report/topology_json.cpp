#include <nlohmann/json.hpp>

#include "sim/cluster/cluster_links.h"
#include "sim/report/topology_summary.h"

namespace moesim {
namespace {

using Json = nlohmann::ordered_json;  // keys stay in the order of the text

Json port_json(const PortRate& port) {
  return {{"bytes_per_second", port.bytes_per_second}, {"latency_seconds", port.latency_seconds}};
}

Json nodes_json(const TopologySummary& summary) {
  Json all = Json::array();
  for (const TopologySummary::Nodes& nodes : summary.nodes) {
    Json parts = Json::object();
    for (const TopologySummary::Parts& of : nodes.parts) {
      parts[name(of.kind)] = of.count;
    }
    all.push_back({{"first", nodes.first},
                   {"count", nodes.count},
                   {"parts", parts},
                   {"inferred", nodes.inferred}});
  }
  return all;
}

Json switches_json(const TopologySummary& summary) {
  Json all = Json::array();
  for (const TopologySummary::Switches& switches : summary.switches) {
    all.push_back(
        {{"level", switches.level}, {"count", switches.count}, {"width", switches.width}});
  }
  return all;
}

Json cables_json(const TopologySummary& summary) {
  Json all = Json::array();
  for (const TopologySummary::Cables& cables : summary.cables) {
    all.push_back({{"kind", name(cables.kind)},
                   {"from", cables.from},
                   {"to", cables.to},
                   {"bytes_per_second", cables.rate},
                   {"half_duplex", cables.half_duplex},
                   {"latency_seconds", cables.latency},
                   {"count", cables.count}});
  }
  return all;
}

// Null of a cluster of ports.
Json transfers_json(const TopologySummary& summary) {
  if (!summary.cluster.wiring) {
    return {};
  }
  const TransferSpec& transfers = summary.cluster.wiring->transfers;
  return {{"peer_access", name(transfers.peer_access)},
          {"no_gpudirect", !transfers.gpudirect},
          {"pxn", transfers.pxn},
          {"pxn_has_effect", transfers.pxn && summary.has_nvlink}};
}

Json ways_json(const TopologySummary& summary) {
  Json all = Json::array();
  for (const TopologySummary::Way& way : summary.ways) {
    Json hops = Json::array();
    for (const Hop& hop : way.route) {
      const Topology& topology = summary.cluster.links->topology;
      hops.push_back({{"link", link_name(topology, hop.link)},
                      {"kind", name(topology.links()[hop.link].kind)},
                      {"share", hop.share},
                      {"bytes_per_second", topology.rate(hop.link)}});
    }
    all.push_back({{"from", way.from},
                   {"to", way.to},
                   {"bytes_per_second", way.rate},
                   {"latency_seconds", way.latency},
                   {"hops", hops}});
  }
  return all;
}

}  // namespace

std::string to_json(const TopologySummary& summary) {
  const Cluster& cluster = summary.cluster;
  const Json json = {{"cluster", cluster.name},
                     {"num_nodes", cluster.num_nodes},
                     {"gpus_per_node", cluster.gpus_per_node},
                     {"gpu", cluster.gpu},
                     {"gpu_memory_bytes", cluster.gpu_memory_bytes},
                     {"nodes", nodes_json(summary)},
                     {"switches", switches_json(summary)},
                     {"links", cables_json(summary)},
                     {"intra_node", port_json(cluster.intra_node)},
                     {"inter_node", port_json(cluster.inter_node)},
                     {"transfers", transfers_json(summary)},
                     {"bisection_bytes_per_second", summary.bisection},
                     {"routes", ways_json(summary)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace moesim
