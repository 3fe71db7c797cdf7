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

MemberMemory::MemberMemory(const MovePlan& plan, const MemberRank& who, TensorStore& tensors)
    : plan_(&plan),
      who_(who),
      tensors_(&tensors),
      scratch_(static_cast<size_t>(plan.scratch_rows * plan.columns)) {}

std::byte* MemberMemory::address(const RowAddress& row) {
  CHECK(row.member == who_.member, "member {}'s rows are out of reach", row.member);
  if (row.tensor == kNone) {
    return reinterpret_cast<std::byte*>(scratch_.data() + row.row * plan_->columns);
  }
  return tensors_->bytes(who_.rank, row.tensor, row.row);
}

void MemberMemory::clear() {
  for (const Clear& clear : plan_->clears) {
    if (clear.rows.member == who_.member) {
      const auto count = static_cast<size_t>(clear.count * plan_->columns);
      std::memset(address(clear.rows), 0, count * sizeof(float));
    }
  }
}

MoveRunner::MoveRunner(const MovePlan& plan, const std::vector<int>& ranks, TensorStore& tensors)
    : plan_(&plan) {
  for (int member = 0; member < static_cast<int>(ranks.size()); ++member) {
    members_.emplace_back(plan, MemberRank{member, ranks[static_cast<size_t>(member)]}, tensors);
  }
}

std::byte* MoveRunner::address(const RowAddress& row) {
  return members_[static_cast<size_t>(row.member)].address(row);
}

void MoveRunner::clear(int member) {
  members_[static_cast<size_t>(member)].clear();
}

void MoveRunner::run_step(int step, int member) {
  for (const Move& move : plan_->steps.at(static_cast<size_t>(step))) {
    if (move.to.member == member) {
      apply_move(move, plan_->columns, address(move.from), address(move.to));
    }
  }
}

void MoveRunner::run() {
  const auto members = static_cast<int>(members_.size());
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
