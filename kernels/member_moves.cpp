#include "kernels/member_moves.h"

#include "sim/base/check.h"

namespace moesim {

MemberMoves::MemberMoves(const MovePlan& plan, const MemberRank& who, TensorStore& tensors)
    : plan_(&plan), member_(who.member), memory_(plan, who, tensors) {}

const std::vector<Move>& MemberMoves::moves(int step) const {
  return plan_->steps.at(static_cast<size_t>(step));
}

size_t MemberMoves::size(const Move& move) const {
  return static_cast<size_t>(move.rows * plan_->columns) * sizeof(float);
}

std::vector<int64_t> MemberMoves::incoming(int step, int num_members) const {
  std::vector<int64_t> sizes(static_cast<size_t>(num_members));
  for (const Move& move : moves(step)) {
    if (move.to.member == member_ && move.from.member != member_) {
      sizes[static_cast<size_t>(move.from.member)] += static_cast<int64_t>(size(move));
    }
  }
  return sizes;
}

std::vector<Parcel> MemberMoves::pack(int step, int num_members) {
  std::vector<Parcel> parcels(static_cast<size_t>(num_members));
  for (const Move& move : moves(step)) {
    if (move.from.member == member_ && move.to.member != member_) {
      Parcel& parcel = parcels[static_cast<size_t>(move.to.member)];
      const std::byte* from = memory_.address(move.from);
      parcel.insert(parcel.end(), from, from + size(move));
    }
  }
  return parcels;
}

void MemberMoves::unpack(int step, const std::vector<Parcel>& parcels) {
  std::vector<size_t> used(parcels.size());
  for (const Move& move : moves(step)) {
    if (move.to.member != member_) {
      continue;
    }
    const auto source = static_cast<size_t>(move.from.member);
    const std::byte* from = nullptr;
    if (move.from.member == member_) {
      from = memory_.address(move.from);
    } else {
      CHECK(used[source] + size(move) <= parcels[source].size(), "a parcel is too short");
      from = parcels[source].data() + used[source];
      used[source] += size(move);
    }
    apply_move(move, plan_->columns, from, memory_.address(move.to));
  }
}

}  // namespace moesim
