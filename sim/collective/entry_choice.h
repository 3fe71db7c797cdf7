#pragma once

#include <optional>

#include "sim/collective/algorithm_phases.h"
#include "sim/collective/member_place.h"
#include "sim/io/profile.h"

namespace moesim {

// Which of a profile's entries tells what a collective costs.
struct EntryQuery {
  CollectiveOperation operation = CollectiveOperation::kAllReduce;
  Span span = Span::kNode;
  int size = 0;
  int nodes = 0;
  std::optional<Algorithm> algorithm{};  // absent: whichever
  bool needs_transfer = false;           // not one that has a start-up alone
};

// Whether an entry over nodes and GPUs was measured with another number of GPUs on each node.
bool is_of_other_kind(const CollectiveCost& entry, int size, int nodes);

// Of several entries for the operation and span, those with other numbers of GPUs on a node come
// last; the one of the exact group size wins, then the nearest by ratio, then one that states no
// size; of those as near, the one of the nearest number of nodes, then one measured with the
// algorithm, then the first. An entry that states no algorithm was
// measured with the default one, but a start-up alone holds for the messages of any. Null where
// there is none.
const CollectiveCost* find_entry(const Profile& profile, const EntryQuery& query);

// What an entry's start-up amounts to: once, for each other member of `size`, or for each step.
// Where an algorithm other than the default one sends, its peers are its steps.
double startup_seconds(const CollectiveCost& entry, int size, const Steps& steps);

// The same of one step of those that it was measured with; `place` is that of the members where the
// entry does not state its layout.
double step_startup(const CollectiveCost& entry, const MemberPlace& place);

}  // namespace moesim
