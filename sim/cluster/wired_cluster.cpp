#include "sim/cluster/wired_cluster.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "sim/base/error.h"
#include "sim/cluster/build_topology.h"
#include "sim/cluster/reach.h"
#include "sim/cluster/routes.h"

namespace moesim {
namespace {

// What one byte of every GPU, sent over a set of ways, puts on the media.
class PortMeter {
 public:
  PortMeter(const Topology& topology, const Wiring& wiring)
      : topology_(topology), routes_(topology, wiring), bytes_(topology.media().size()) {}

  void send(int from, int to, double bytes) {
    double latency = 0;
    for (const Hop& hop : routes_.between(from, to)) {
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
  Routes routes_;
  std::vector<double> bytes_;
  double latency_ = 0;
};

// Nodes share no link, and those that are wired alike carry as much.
std::vector<int> one_of_each_model(const Topology& topology) {
  std::set<int> seen;  // groups
  std::vector<int> nodes;
  for (int node = 0; node < std::ssize(topology.nodes()); ++node) {
    const Topology::Node& of = topology.nodes()[node];
    if (of.changed || seen.insert(of.group).second) {
      nodes.push_back(node);
    }
  }
  return nodes;
}

PortRate intra_node(const Topology& topology, const Cluster& cluster) {
  PortMeter meter(topology, *cluster.wiring);
  const int size = cluster.gpus_per_node;
  for (const int node : one_of_each_model(topology)) {
    for (int pair = 0; pair < size * size; ++pair) {
      if (pair / size != pair % size) {
        meter.send(node * size + pair / size, node * size + pair % size, 1.0 / (size - 1));
      }
    }
  }
  return meter.rate();
}

PortRate inter_node(const Topology& topology, const Cluster& cluster) {
  PortMeter meter(topology, *cluster.wiring);
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
  const auto topology = std::make_shared<const Topology>(build_topology(cluster));
  try {
    check_reach(*topology, *cluster.wiring);
    cluster.intra_node = intra_node(*topology, cluster);
    cluster.inter_node = inter_node(*topology, cluster);
  } catch (const Error& error) {
    throw Error(cluster.wiring->nodes.front().location, error.text());
  }
  cluster.topology = topology;
  return cluster;
}

}  // namespace moesim
