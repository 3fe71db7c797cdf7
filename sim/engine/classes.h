#pragma once

#include <vector>

#include "sim/engine/link_patterns.h"
#include "sim/engine/script.h"
#include "sim/engine/task_cost.h"
#include "sim/io/trace.h"

namespace moesim {

// Instances of one group that behave alike.
struct InstanceClasses {
  std::vector<int> of_instance;
  std::vector<std::vector<int>> rank_classes;  // by instance class: the classes of its members
};

// Which ranks and group instances stand for which. Rank classes are numbered by their lowest rank,
// their representative. Groups without collectives have no instance classes.
struct Classes {
  std::vector<int> of_rank;
  std::vector<RankClass> ranks;
  std::vector<InstanceClasses> groups;
  std::vector<int> of_medium;  // kNone: unused; empty where the cluster has no links
  std::vector<int> media;      // by class: the lowest medium, its representative
};

// Every rank, instance and medium on its own.
Classes separate_classes(const Scripts& scripts, const LinkPatterns& links, TaskCosts& costs);

// Whether each rank has costs of its own, so that no rank stands for others.
bool are_all_unlike(const Program& program);

// The coarsest classes, of a Program without jitter, in which ranks run the same tasks at the same
// costs, in instances of the same classes, over links that are used alike (exact: one
// representative's times are those of its whole class).
Classes fold_classes(const Scripts& scripts, const LinkPatterns& links, TaskCosts& costs);

}  // namespace moesim
