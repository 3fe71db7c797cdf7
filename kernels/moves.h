#pragma once

#include <cstdint>
#include <vector>

#include "kernels/row_spans.h"
#include "sim/io/program.h"

namespace moesim {

// Rows of a member's buffer of a tensor; with `tensor` = kNone, of the scratch memory that the
// member has for one task.
struct RowAddress {
  int member = 0;  // index in the group instance
  int tensor = kNone;
  int64_t row = 0;
};

// Copies rows, or adds them to what stands at `to`.
struct Move {
  RowAddress from;
  RowAddress to;
  int64_t rows = 0;
  bool add = false;
};

// Rows that become zero.
struct Clear {
  RowAddress rows;
  int64_t count = 0;
};

// How a task moves rows between the buffers of a group instance: the same for every transport. A
// step begins when all members have finished the one before. Within it each member carries out, in
// their order, the moves to its own memory; nobody writes what another reads. Sums add up the
// members in group order.
struct MovePlan {
  int columns = 0;
  int64_t scratch_rows = 0;   // of every member
  std::vector<Clear> clears;  // before the first step
  std::vector<std::vector<Move>> steps;
};

// A collective among the members of one instance of its group.
MovePlan plan_collective(const RowMap& map, const Task& task, const std::vector<int>& members);

// The same where the members' roles issue it as tasks of their own: `tasks[m]` is member m's.
MovePlan plan_collective(const RowMap& map,
                         const std::vector<const Task*>& tasks,
                         const std::vector<int>& members);

// Slice, replicate or local_sum on one rank, which is member 0 of the plan.
MovePlan plan_local(const RowMap& map, const Task& task, int rank);

}  // namespace moesim
