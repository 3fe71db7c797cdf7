#pragma once

#include <string>
#include <vector>

#include "sim/collective/algorithm_phases.h"
#include "sim/collective/flows.h"
#include "sim/io/profile.h"

namespace moesim {

// How a collective over a group is carried out.
struct AlgorithmPlan {
  Algorithm algorithm = Algorithm::kDefault;
  std::vector<Phase> phases{};
  bool is_default = true;

  // Whether the profile has what the whole takes: then it is one phase with all messages.
  bool is_measured = false;

  FlowStep flow_step(int phase) const { return {algorithm, is_measured ? kEveryPhase : phase}; }
};

// All instances of a group.
struct GroupShape {
  Span span = Span::kNode;  // the widest of any instance
  int size = 0;             // of the first instance with that span
  int nodes = 0;
  bool is_even = true;    // as many members on each node of an instance
  bool in_switch = true;  // NVSwitches join the members on a node, as far as is known
};

// The algorithm that a profile chooses for an operation over such groups: that of the first of its
// `algorithms` that fits, else that of the entry that is nearest to them, else kDefault. May be
// kFastest.
Algorithm chosen_algorithm(const Profile& profile,
                           CollectiveOperation operation,
                           const GroupShape& shape);

// What is in the way of an algorithm for a collective over such groups, with what to do about it;
// empty where nothing is.
std::string obstacle(const Collective& collective, Algorithm algorithm, const GroupShape& shape);

// The plan for an algorithm that nothing is in the way of. HIERARCHICAL and PIPE are the default
// algorithm over groups of one level, and but for an all-to-all where nodes have unequal numbers of
// members.
AlgorithmPlan make_plan(const Profile& profile,
                        CollectiveOperation operation,
                        Algorithm algorithm,
                        const GroupShape& shape);

}  // namespace moesim
