#include "sim/cluster/wired_cluster.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "sim/base/error.h"
#include "sim/cluster/build_topology.h"
#include "sim/cluster/cluster_links.h"
#include "sim/cluster/reach.h"

namespace moesim {
namespace {

// What one byte of every GPU, sent over a set of ways, puts on the media.
class PortMeter {
 public:
  explicit PortMeter(const ClusterLinks& links)
      : topology_(links.topology), routes_(links.routes), bytes_(topology_.media().size()) {}

  void send(int from, int to, double bytes) {
    double latency = 0;
    routes_.find(from, to, route_);
    for (const Hop& hop : route_) {
      const Link& link = topology_.links()[hop.link];
      bytes_[link.medium] += bytes * hop.share;
      latency += link.latency * hop.share;
    }
    latency_ = std::max(latency_, latency);
  }

  PortRate rate() const {
    constexpr double kUnbound = std::numeric_limits<double>::infinity();
    double rate = kUnbound;
    for (size_t i = 0; i < bytes_.size(); ++i) {
      if (bytes_[i] > 0) {
        rate = std::min(rate, topology_.media()[i] / bytes_[i]);
      }
    }
    return {rate == kUnbound ? 0 : rate, latency_};
  }

 private:
  const Topology& topology_;
  const Routes& routes_;
  Route route_;
  std::vector<double> bytes_;
  double latency_ = 0;
};

// Nodes of one model are alike.
PortRate intra_node(const ClusterLinks& links, const Cluster& cluster) {
  PortMeter meter(links);
  const int size = cluster.gpus_per_node;
  for (int from = 0; from < cluster.num_gpus(); ++from) {
    const int first = from / size * size;
    if (!links.routes.is_model(from / size)) {
      continue;
    }
    for (int to = first; to < first + size; ++to) {
      if (to != from) {
        meter.send(from, to, 1.0 / (size - 1));
      }
    }
  }
  return meter.rate();
}

PortRate inter_node(const ClusterLinks& links, const Cluster& cluster) {
  PortMeter meter(links);
  for (int from = 0; from < cluster.num_gpus() && cluster.num_nodes > 1; ++from) {
    meter.send(from, (from + cluster.gpus_per_node) % cluster.num_gpus(), 1);
  }
  return meter.rate();
}

}  // namespace

Cluster wired(Cluster cluster) {
  if (!cluster.wiring) {
    return cluster;
  }
  const auto links = std::make_shared<const ClusterLinks>(build_topology(cluster), *cluster.wiring);
  try {
    check_reach(links->topology, links->routes);
    cluster.intra_node = intra_node(*links, cluster);
    cluster.inter_node = inter_node(*links, cluster);
  } catch (const Error& error) {
    throw Error(cluster.wiring->nodes.front().location, error.text());
  }
  cluster.links = links;
  return cluster;
}

}  // namespace moesim
