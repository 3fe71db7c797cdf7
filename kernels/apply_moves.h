#pragma once

#include <cstddef>
#include <vector>

#include "kernels/moves.h"
#include "kernels/tensor_store.h"

namespace moesim {

// Copies the rows of a move, or adds them.
void apply_move(const Move& move, int columns, const std::byte* from, std::byte* to);

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
  std::vector<int> ranks_;
  TensorStore* tensors_;
  std::vector<std::vector<float>> scratch_;  // by member
};

}  // namespace moesim
