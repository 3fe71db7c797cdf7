#pragma once

#include <cstddef>
#include <vector>

#include "kernels/moves.h"
#include "kernels/row_list.h"
#include "kernels/tensor_store.h"

namespace moesim {

// Copies the rows of a move, or adds them.
void apply_move(const Move& move, int columns, const std::byte* from, std::byte* to);

// What a member of a plan can reach: its rank's buffers and its scratch memory.
class MemberMemory {
 public:
  MemberMemory(const MovePlan& plan, const MemberRank& who, TensorStore& tensors);

  // The row must be the member's.
  std::byte* address(const RowAddress& row);
  // Makes the member's rows zero that the plan clears before the first step.
  void clear();

 private:
  const MovePlan* plan_;
  MemberRank who_;
  TensorStore* tensors_;
  std::vector<float> scratch_;
};

// Carries out a MovePlan among ranks that one process executes: `ranks[m]` is member m. Members may
// do their parts at the same time, with a barrier between steps.
class MoveRunner {
 public:
  MoveRunner(const MovePlan& plan, const std::vector<int>& ranks, TensorStore& tensors);

  // What comes before the first step on a member.
  void clear(int member);
  // The moves of a step whose target is the member's memory.
  void run_step(int step, int member);
  // Everything, one member after the other.
  void run();

 private:
  std::byte* address(const RowAddress& row);

  const MovePlan* plan_;
  std::vector<MemberMemory> members_;
};

}  // namespace moesim
