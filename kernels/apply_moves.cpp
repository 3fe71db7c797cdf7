#include "kernels/apply_moves.h"

#include <cstring>

#include "sim/base/check.h"

namespace moesim {

void apply_move(const Move& move, int columns, const std::byte* from, std::byte* to) {
  const auto count = static_cast<size_t>(move.rows * columns);
  if (!move.add) {
    std::memmove(to, from, count * sizeof(float));
    return;
  }
  const float* terms = reinterpret_cast<const float*>(from);
  float* sums = reinterpret_cast<float*>(to);
  for (size_t i = 0; i < count; ++i) {
    sums[i] += terms[i];
  }
}

MoveRunner::MoveRunner(const MovePlan& plan, const std::vector<int>& ranks, TensorStore& tensors)
    : plan_(&plan),
      ranks_(ranks),
      tensors_(&tensors),
      scratch_(ranks.size(),
               std::vector<float>(static_cast<size_t>(plan.scratch_rows * plan.columns))) {}

std::byte* MoveRunner::address(const RowAddress& row) {
  const auto member = static_cast<size_t>(row.member);
  if (row.tensor == kNone) {
    return reinterpret_cast<std::byte*>(scratch_[member].data() + row.row * plan_->columns);
  }
  return tensors_->bytes(ranks_[member], row.tensor, row.row);
}

void MoveRunner::clear(int member) {
  for (const Clear& clear : plan_->clears) {
    if (clear.rows.member == member) {
      const auto count = static_cast<size_t>(clear.count * plan_->columns);
      std::memset(address(clear.rows), 0, count * sizeof(float));
    }
  }
}

void MoveRunner::run_step(int step, int member) {
  for (const Move& move : plan_->steps.at(static_cast<size_t>(step))) {
    if (move.to.member == member) {
      apply_move(move, plan_->columns, address(move.from), address(move.to));
    }
  }
}

void MoveRunner::run() {
  const auto members = static_cast<int>(ranks_.size());
  for (int member = 0; member < members; ++member) {
    clear(member);
  }
  for (int step = 0; step < static_cast<int>(plan_->steps.size()); ++step) {
    for (int member = 0; member < members; ++member) {
      run_step(step, member);
    }
  }
}

}  // namespace moesim
