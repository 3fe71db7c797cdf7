#pragma once

#include <cstdint>
#include <vector>

#include "sim/io/program.h"
#include "sim/program/footprint.h"
#include "sim/program/group_table.h"
#include "sim/program/valid_rows.h"

namespace moesim {

// The rows that a region means within one block of a rank's buffer. Of its `nominal` rows the
// `valid` ones hold tokens; they stand at `first` (counted from the buffer's first row, block after
// block). Where no routing without capacity leaves rows empty, valid = nominal.
struct RowSpan {
  int64_t first = 0;
  int nominal = 0;
  int valid = 0;
};

// Where the regions of a Program lie in the ranks' buffers. A block with n valid of R nominal rows
// holds a region [a, b) at its rows floor(a*n/R) .. floor(b*n/R).
class RowMap {
 public:
  explicit RowMap(const Program& program);

  const Program& program() const { return *program_; }
  const GroupTable& groups() const { return groups_; }

  // The region's list of rows on the rank, block by block. Empty where the region is.
  std::vector<RowSpan> spans(const Task& task, const Region& region, Use use, int rank) const;

 private:
  const Program* program_;
  GroupTable groups_;
  ValidRows valid_rows_;
};

}  // namespace moesim
