#include "sim/collective/ring_rate.h"

#include <algorithm>

#include "sim/collective/layout_laws.h"
#include "sim/collective/link_loads.h"
#include "sim/io/algorithm.h"

namespace moesim {
namespace {

// One instance: the first GPUs of nodes from the first one on.
Program group_on(const Cluster& cluster, const Layout& layout, int first_node) {
  Program program;
  program.num_ranks = cluster.num_gpus();
  std::vector<int> members;
  for (int node = first_node; node < first_node + layout.nodes; ++node) {
    for (int gpu = 0; gpu < layout.gpus_per_node; ++gpu) {
      members.push_back(node * cluster.gpus_per_node + gpu);
    }
  }
  program.groups = {{.name = "ranks", .members = {members}}};
  return program;
}

double seconds_per_byte(const Cluster& cluster,
                        const Program& program,
                        const Collective& of,
                        Algorithm algorithm) {
  return LinkLoads(program, cluster).of(of, {algorithm, kEveryPhase})->busiest;
}

bool has_in_switch(CollectiveOperation operation) {
  return std::ranges::count(algorithms_of(operation), Algorithm::kInSwitch) > 0;
}

// What the two levels of a collective take of the ports that describe a cluster.
double seconds_on_ports(const Cluster& cluster,
                        CollectiveOperation operation,
                        const Layout& layout) {
  const auto on = [](double share, const PortRate& port) {
    return port.bytes_per_second > 0 ? share / port.bytes_per_second : 0;
  };
  if (layout.nodes == 1) {
    return on(wire_share(operation, layout), cluster.intra_node);
  }
  const LevelParts parts = level_parts(operation, place_on(layout));
  const double inside = layout.gpus_per_node > 1 ? on(parts.inside.share, cluster.intra_node) : 0;
  return std::max(inside, on(parts.between.share, cluster.inter_node));
}

}  // namespace

double ring_rate(const Cluster& cluster, CollectiveOperation operation, const Layout& layout) {
  const Layout part{std::min(layout.nodes, 2), layout.gpus_per_node};
  const bool is_ring = resolved(operation, Algorithm::kDefault) == Algorithm::kRing;
  if (!is_ring || cluster.links == nullptr || part.size() < 2 || part.nodes > cluster.num_nodes ||
      part.gpus_per_node > cluster.gpus_per_node) {
    return 0;
  }
  const int last = cluster.num_nodes - part.nodes;
  double rate = 0;
  for (const int first_node : {0, last / 2, last}) {
    const Program program = group_on(cluster, part, first_node);
    const double seconds = seconds_per_byte(
        cluster, program, {.operation = operation, .group = 0}, Algorithm::kDefault);
    rate = std::max(rate, seconds > 0 ? wire_share(operation, part) / seconds : 0);
  }
  return rate;
}

double least_seconds_per_byte(const Cluster& cluster,
                              CollectiveOperation operation,
                              const Layout& layout) {
  constexpr int kMostRanks = 1024;  // an all-to-all has as many messages as pairs of them
  if (layout.size() < 2 || layout.size() > kMostRanks || layout.nodes > cluster.num_nodes ||
      layout.gpus_per_node > cluster.gpus_per_node) {
    return 0;
  }
  if (cluster.links == nullptr) {
    return seconds_on_ports(cluster, operation, layout);
  }
  const Program program = group_on(cluster, layout, 0);
  const bool is_shift = operation == CollectiveOperation::kShift;
  const Collective collective{
      .operation = operation, .group = 0, .distance = is_shift ? 1 : 0, .wrap = is_shift};
  const double usual = seconds_per_byte(cluster, program, collective, Algorithm::kDefault);
  if (layout.gpus_per_node == 1 || !has_in_switch(operation) ||
      !LinkLoads(program, cluster).pass_switch(0, 1)) {
    return usual;
  }
  return std::min(usual, seconds_per_byte(cluster, program, collective, Algorithm::kInSwitch));
}

}  // namespace moesim
