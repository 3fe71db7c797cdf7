#include "sim/engine/classes.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "sim/base/check.h"
#include "sim/engine/link_classes.h"
#include "sim/engine/partition.h"

namespace moesim {
namespace {

// What two ranks' parts in a task are compared by.
using LoadKey = std::vector<std::int64_t>;

void append(LoadKey& key, const CollectiveLoad& load) {
  for (const Time time : load.load) {
    key.push_back(time.picoseconds());
  }
  key.push_back(load.startup.picoseconds());
  key.push_back(load.of_its_own.picoseconds());
}

// Marks the groups that have collectives.
std::vector<bool> groups_in_use(const Program& program, const Scripts& scripts) {
  std::vector<bool> used(program.groups.size());
  for (const Communicator& communicator : scripts.communicators) {
    used[communicator.group] = true;
  }
  return used;
}

Classes make_classes(const Program& program, const Scripts& scripts, LinkClasses parts) {
  const Partition& partition = parts.ranks;
  Classes classes;
  classes.of_medium = std::move(parts.of_medium);
  classes.media = std::move(parts.representatives);
  classes.of_rank = partition.colours();
  classes.ranks.resize(partition.num_colours());
  for (int rank = 0; rank < program.num_ranks; ++rank) {
    RankClass& rank_class = classes.ranks[classes.of_rank[rank]];
    if (rank_class.ranks.empty()) {
      rank_class.representative = rank;
    }
    rank_class.ranks.push_back(rank);
  }
  classes.groups.resize(program.groups.size());
  const std::vector<bool> used = groups_in_use(program, scripts);
  for (std::size_t group = 0; group < program.groups.size(); ++group) {
    if (!used[group]) {
      continue;
    }
    InstanceClasses& instances = classes.groups[group];
    const Relation& members = program.groups[group].members;
    instances.of_instance = colour_sets(partition, members);
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (instances.of_instance[i] == static_cast<int>(instances.rank_classes.size())) {
        std::vector<int>& rank_classes = instances.rank_classes.emplace_back();
        for (const int rank : members[i]) {
          rank_classes.push_back(classes.of_rank[rank]);
        }
        std::sort(rank_classes.begin(), rank_classes.end());
        rank_classes.erase(std::unique(rank_classes.begin(), rank_classes.end()),
                           rank_classes.end());
      }
    }
  }
  return classes;
}

// Parts ranks by what decides their costs, starting from their roles.
class CostPartition {
 public:
  CostPartition(const Scripts& scripts, TaskCosts& costs)
      : program_(costs.program()),
        scripts_(scripts),
        costs_(costs),
        partition_(program_.num_ranks) {
    partition_.split(scripts.of_rank);
    for (const std::vector<double>* factors : {&program_.rank_scale, &program_.rank_speed}) {
      if (!factors->empty()) {
        partition_.split(*factors);
      }
    }
    for (const Task& task : program_.tasks) {
      if (const auto* collective = std::get_if<Collective>(&task.descriptor)) {
        split_by_place(*collective);
      }
    }
    for (const Task& task : program_.tasks) {
      if (costs.depends_on_rank(task) || is_new_kind(task)) {
        split_by_cost(task);
      }
    }
  }

  Partition take() { return std::move(partition_); }

 private:
  // Which of a member's place its load follows from, the size of the collective aside.
  using PlaceKind = std::tuple<int, bool, int, bool>;

  void split_by_place(const Collective& collective);
  void split_by_cost(const Task& task);
  bool is_new_kind(const Task& task);

  const Program& program_;
  const Scripts& scripts_;
  TaskCosts& costs_;
  Partition partition_;
  std::vector<PlaceKind> seen_;
  std::set<std::pair<CollectiveCosts::LinkKey, std::int64_t>> seen_loads_;  // with bytes
};

// Of collectives whose loads may differ between instances, each is looked at once.
bool CostPartition::is_new_kind(const Task& task) {
  const auto* collective = std::get_if<Collective>(&task.descriptor);
  return collective != nullptr && costs_.differs_by_instance(task) &&
         seen_loads_.emplace(costs_.link_key(task, 0), collective->bytes).second;
}

// Places differ only by group, and for a SHIFT by its distance: each is looked at once.
void CostPartition::split_by_place(const Collective& collective) {
  const bool shift = collective.operation == CollectiveOperation::kShift;
  const PlaceKind kind{
      collective.group, shift, shift ? collective.distance : 0, shift && collective.wrap};
  if (std::find(seen_.begin(), seen_.end(), kind) != seen_.end()) {
    return;
  }
  seen_.push_back(kind);
  std::vector<MemberPlace> places;
  places.reserve(program_.num_ranks);
  for (int rank = 0; rank < program_.num_ranks; ++rank) {
    places.push_back(costs_.place(collective, rank));
  }
  partition_.split(places);
}

// By the costs themselves.
void CostPartition::split_by_cost(const Task& task) {
  if (partition_.num_colours() == program_.num_ranks) {
    return;
  }
  const auto* collective = std::get_if<Collective>(&task.descriptor);
  std::vector<LoadKey> keys(program_.num_ranks);
  for (int rank = 0; rank < program_.num_ranks; ++rank) {
    if (!runs(task, scripts_.of_rank[rank])) {
      continue;
    }
    if (collective == nullptr) {
      keys[rank] = {costs_.duration(task, rank).picoseconds()};
    } else if (costs_.groups().instance(collective->group, rank) != kNone) {
      for (int phase = 0; phase < costs_.num_phases(task); ++phase) {
        append(keys[rank], costs_.load(task, rank, phase));
      }
    }
  }
  partition_.split(keys);
}

}  // namespace

Classes separate_classes(const Scripts& scripts, const LinkPatterns& links, TaskCosts& costs) {
  const Program& program = costs.program();
  Partition partition(program.num_ranks);
  std::vector<int> ranks(program.num_ranks);
  std::iota(ranks.begin(), ranks.end(), 0);
  partition.split(ranks);
  return make_classes(
      program, scripts, separate_links(std::move(partition), links, costs.num_media()));
}

bool are_all_unlike(const Program& program) {
  return program.jitter.has_value();
}

Classes fold_classes(const Scripts& scripts, const LinkPatterns& links, TaskCosts& costs) {
  const Program& program = costs.program();
  CHECK(!are_all_unlike(program));
  std::vector<const Relation*> relations;
  const std::vector<bool> used = groups_in_use(program, scripts);
  for (std::size_t group = 0; group < program.groups.size(); ++group) {
    if (used[group]) {
      relations.push_back(&program.groups[group].members);
    }
  }
  return make_classes(
      program,
      scripts,
      refine_with_links(CostPartition(scripts, costs).take(), relations, links, costs.num_media()));
}

}  // namespace moesim
