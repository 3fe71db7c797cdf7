#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/io/program.h"
#include "sim/program/group_table.h"

namespace moesim {

// How many of a tensor's nominal rows hold tokens, per rank and block. Shared between tensors with
// the same contents, so that a deep model costs no more than one layer.
struct RowCounts {
  std::vector<std::vector<int>> counts;  // [rank][block]
};

// Follows the token counts of gates without capacity through orders, collectives, replicates and
// experts. Tensors that no such gate feeds are full. A block with n valid of R nominal rows gives
// floor(b*n/R) - floor(a*n/R) valid rows to a region [a, b). An expert with several blocks fills
// them equally.
class ValidRows {
 public:
  explicit ValidRows(const Program& program);

  // True when no gate of the Program has a routing without capacity: every region is full.
  bool all_full() const;

  // The counts of a tensor, the same object for tensors with the same counts; null when full.
  const RowCounts* counts(int tensor) const {
    return tensors_.empty() ? nullptr : tensors_[tensor].get();
  }

  // Valid rows of the region on the rank; num_list_rows() when full.
  int64_t valid_rows(const Region& region, int rank) const;

  // Valid rows that `source` (index within the group instance) sends to each member, itself too, in
  // an all-to-all over the task's read region.
  std::vector<int64_t> sent_rows(const Task& task,
                                 const std::vector<int>& members,
                                 int source) const;

 private:
  struct Block {
    int tensor = kNone;
    int block = 0;
    int rank = 0;
  };

  int64_t valid_rows(const Block& block, int first_row, int end_row) const;
  std::vector<int> blocks(const Region& region, int rank) const;

  const Program* program_;
  GroupTable groups_;
  std::vector<std::shared_ptr<const RowCounts>> tensors_;  // by tensor; null: full
};

}  // namespace moesim
