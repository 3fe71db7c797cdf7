#include "kernels/member_moves.h"

#include <cstring>

#include "kernels/apply_moves.h"
#include "sim/base/check.h"

namespace moesim {

MemberMoves::MemberMoves(const MovePlan& plan, const MemberRank& who, TensorStore& tensors)
    : plan_(&plan),
      who_(who),
      tensors_(&tensors),
      scratch_(static_cast<size_t>(plan.scratch_rows * plan.columns)) {}

const std::vector<Move>& MemberMoves::moves(int step) const {
  return plan_->steps.at(static_cast<size_t>(step));
}

size_t MemberMoves::size(const Move& move) const {
  return static_cast<size_t>(move.rows * plan_->columns) * sizeof(float);
}

std::byte* MemberMoves::own(const RowAddress& row) {
  CHECK(row.member == who_.member, "member {}'s rows are out of reach", row.member);
  if (row.tensor == kNone) {
    return reinterpret_cast<std::byte*>(scratch_.data() + row.row * plan_->columns);
  }
  return tensors_->bytes(who_.rank, row.tensor, row.row);
}

std::vector<int64_t> MemberMoves::incoming(int step, int num_members) const {
  std::vector<int64_t> sizes(static_cast<size_t>(num_members));
  for (const Move& move : moves(step)) {
    if (move.to.member == who_.member && move.from.member != who_.member) {
      sizes[static_cast<size_t>(move.from.member)] += static_cast<int64_t>(size(move));
    }
  }
  return sizes;
}

std::vector<Parcel> MemberMoves::pack(int step, int num_members) {
  std::vector<Parcel> parcels(static_cast<size_t>(num_members));
  for (const Move& move : moves(step)) {
    if (move.from.member == who_.member && move.to.member != who_.member) {
      Parcel& parcel = parcels[static_cast<size_t>(move.to.member)];
      const std::byte* from = own(move.from);
      parcel.insert(parcel.end(), from, from + size(move));
    }
  }
  return parcels;
}

void MemberMoves::clear() {
  for (const Clear& clear : plan_->clears) {
    if (clear.rows.member == who_.member) {
      const auto count = static_cast<size_t>(clear.count * plan_->columns);
      std::memset(own(clear.rows), 0, count * sizeof(float));
    }
  }
}

void MemberMoves::unpack(int step, const std::vector<Parcel>& parcels) {
  std::vector<size_t> used(parcels.size());
  for (const Move& move : moves(step)) {
    if (move.to.member != who_.member) {
      continue;
    }
    const auto source = static_cast<size_t>(move.from.member);
    const std::byte* from = nullptr;
    if (move.from.member == who_.member) {
      from = own(move.from);
    } else {
      CHECK(used[source] + size(move) <= parcels[source].size(), "a parcel is too short");
      from = parcels[source].data() + used[source];
      used[source] += size(move);
    }
    apply_move(move, plan_->columns, from, own(move.to));
  }
}

}  // namespace moesim
