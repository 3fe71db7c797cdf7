#pragma once

#include <vector>

#include "kernels/operations/operand.h"

namespace moesim {

// Which slot each row of tokens has with each expert. Slots are counted through the index's list of
// rows. What no row of the tokens can mean, as a raced or unwritten index, counts as empty.
class SlotMap {
 public:
  // `experts`: of each block of the index.
  SlotMap(const Operand& index,
          const std::vector<int>& experts,
          int64_t num_rows,
          TensorStore& tensors);

  int num_experts() const { return num_experts_; }
  // kNone where the row is not with the expert.
  int64_t slot(int64_t row, int expert) const {
    return slots_[static_cast<size_t>(row * num_experts_ + expert)];
  }
  // The row in a slot, or kNone.
  int64_t row(size_t slot) const { return rows_[slot]; }
  size_t num_slots() const { return rows_.size(); }

 private:
  int num_experts_;
  std::vector<int64_t> slots_;
  std::vector<int64_t> rows_;
};

}  // namespace moesim
