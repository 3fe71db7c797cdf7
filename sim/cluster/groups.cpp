#include "sim/cluster/groups.h"

#include <algorithm>
#include <string>

#include "sim/base/check.h"

namespace moesim {
namespace {

// One axis of a grid: neighbours along it are `stride` ranks apart.
struct Axis {
  const char* name;
  int size;
  int stride;
};

// Cuts ranks 0 .. world-1 into the lines along an axis, in order of each line's first rank.
Group along(const Axis& axis, int world) {
  Group group{.name = axis.name, .members = {}};
  for (int rank = 0; rank < world; ++rank) {
    if (rank / axis.stride % axis.size != 0) {
      continue;
    }
    std::vector<int>& line = group.members.emplace_back();
    for (int step = 0; step < axis.size; ++step) {
      line.push_back(rank + step * axis.stride);
    }
  }
  return group;
}

// The boundaries between the stages `first` and first + 1, first + 2 and first + 3, ….
Group boundaries(const char* name, int first, const ParallelConfig& parallel) {
  Group group{.name = name, .members = {}};
  const int size = parallel.stage_ranks();
  for (int stage = first; stage + 1 < parallel.pp; stage += 2) {
    for (int place = 0; place < size; ++place) {
      group.members.push_back({stage * size + place, (stage + 1) * size + place});
    }
  }
  return group;
}

void add_stage_groups(const ParallelConfig& parallel, std::vector<Group>& groups) {
  const int size = parallel.stage_ranks();
  groups.push_back(along({"stage", size, 1}, parallel.world()));
  groups.push_back(along({"pp", parallel.pp, size}, parallel.world()));
  groups.push_back(boundaries("pp_even", 0, parallel));
  if (parallel.pp > 2) {
    groups.push_back(boundaries("pp_odd", 1, parallel));
  }
}

}  // namespace

std::vector<Group> make_groups(const ParallelConfig& parallel) {
  const int world = parallel.world();
  const int ep_esp = parallel.esp * parallel.ep;
  CHECK(world > 0 && ep_esp * parallel.edp == parallel.stage_ranks(),
        "mp {} * dp {} and esp {} * ep {} * edp {} must be one positive number of ranks",
        parallel.mp,
        parallel.dp,
        parallel.esp,
        parallel.ep,
        parallel.edp);
  std::vector<Group> groups;
  for (const Axis& axis : {Axis{"mp", parallel.mp, 1},
                           Axis{"dp", parallel.dp, parallel.mp},
                           Axis{"esp", parallel.esp, 1},
                           Axis{"ep", parallel.ep, parallel.esp},
                           Axis{"edp", parallel.edp, ep_esp},
                           Axis{"ep_esp", ep_esp, 1},
                           Axis{"world", world, 1}}) {
    groups.push_back(along(axis, world));
  }
  if (parallel.pp > 1) {
    add_stage_groups(parallel, groups);
  }
  return groups;
}

int node_of(const Cluster& cluster, int rank) {
  CHECK(rank >= 0 && rank < cluster.num_gpus(), "rank {} of {}", rank, cluster.num_gpus());
  return rank / cluster.gpus_per_node;
}

int num_nodes_of(const Cluster& cluster, const std::vector<int>& members) {
  std::vector<int> nodes;
  nodes.reserve(members.size());
  for (const int rank : members) {
    nodes.push_back(node_of(cluster, rank));
  }
  std::sort(nodes.begin(), nodes.end());
  return static_cast<int>(std::unique(nodes.begin(), nodes.end()) - nodes.begin());
}

Span span_of(const Cluster& cluster, const std::vector<int>& members) {
  CHECK(!members.empty());
  const int nodes = num_nodes_of(cluster, members);
  if (nodes == 1) {
    return Span::kNode;
  }
  return nodes == static_cast<int>(members.size()) ? Span::kFabric : Span::kBoth;
}

}  // namespace moesim
