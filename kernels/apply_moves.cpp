#include "kernels/apply_moves.h"

#include <cstring>

#include "sim/base/check.h"

namespace moesim {

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

void MoveRunner::move(const Move& move) {
  const auto count = static_cast<size_t>(move.rows * plan_->columns);
  const std::byte* from = address(move.from);
  std::byte* to = address(move.to);
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
      this->move(move);
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
