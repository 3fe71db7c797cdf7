#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/apply_moves.h"

namespace moesim {

// Rows that one member sends to another in a step, packed in the order of the plan's moves.
using Parcel = std::vector<std::byte>;

// Carries out one member's part of a MovePlan where the memory of the others is out of reach: what
// they take from it is packed, what it takes from them is unpacked. The results are those of
// MoveRunner, bit for bit.
class MemberMoves {
 public:
  MemberMoves(const MovePlan& plan, const MemberRank& who, TensorStore& tensors);

  // Bytes that the step brings from each member; none from itself.
  std::vector<int64_t> incoming(int step, int num_members) const;

  // What the step takes to each member; nothing to itself.
  std::vector<Parcel> pack(int step, int num_members);

  // What comes before the first step.
  void clear() { memory_.clear(); }
  // Carries out the moves to this member in the plan's order; `parcels[m]` came from member m.
  void unpack(int step, const std::vector<Parcel>& parcels);

 private:
  const std::vector<Move>& moves(int step) const;
  size_t size(const Move& move) const;

  const MovePlan* plan_;
  int member_;
  MemberMemory memory_;
};

}  // namespace moesim
