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

// What messages that GPUs send all at once put on the media, and what each then gets.
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

  // Of a message, when all are sent: that of its fullest medium, which all use alike.
  double rate(int from, int to) {
    double rate = std::numeric_limits<double>::infinity();
    routes_.find(from, to, route_);
    for (const Hop& hop : route_) {
      const std::size_t medium = topology_.links()[hop.link].medium;
      rate = std::min(rate, topology_.media()[medium] / bytes_[medium]);
    }
    return rate;
  }

  double latency() const { return latency_; }

 private:
  const Topology& topology_;
  const Routes& routes_;
  Route route_;
  std::vector<double> bytes_;
  double latency_ = 0;
};

// Each GPU sends a byte, in equal parts, to the GPUs that `receivers` appends for it.
template <typename Receivers>
PortRate fastest_port(const ClusterLinks& links, int num_gpus, const Receivers& receivers) {
  PortMeter meter(links);
  std::vector<int> to;
  const auto receivers_of = [&](int from) -> const std::vector<int>& {
    to.clear();
    receivers(from, to);
    return to;
  };
  for (int from = 0; from < num_gpus; ++from) {
    for (const int receiver : receivers_of(from)) {
      meter.send(from, receiver, 1.0 / static_cast<double>(to.size()));
    }
  }
  double fastest = 0;
  for (int from = 0; from < num_gpus; ++from) {
    double rate = receivers_of(from).empty() ? 0 : std::numeric_limits<double>::infinity();
    for (const int receiver : to) {
      rate = std::min(rate, meter.rate(from, receiver));
    }
    fastest = std::max(fastest, rate);
  }
  return {fastest, meter.latency()};
}

// Nodes of one model are alike.
PortRate intra_node(const ClusterLinks& links, const Cluster& cluster) {
  const int size = cluster.gpus_per_node;
  return fastest_port(links, cluster.num_gpus(), [&](int from, std::vector<int>& to) {
    const int first = from / size * size;
    for (int gpu = first; gpu < first + size && links.routes.is_model(from / size); ++gpu) {
      if (gpu != from) {
        to.push_back(gpu);
      }
    }
  });
}

PortRate inter_node(const ClusterLinks& links, const Cluster& cluster) {
  return fastest_port(links, cluster.num_gpus(), [&](int from, std::vector<int>& to) {
    if (cluster.num_nodes > 1) {
      to.push_back((from + cluster.gpus_per_node) % cluster.num_gpus());
    }
  });
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
