#pragma once

#include <string>
#include <vector>

#include "sim/io/program.h"

namespace moesim::testing {

// What is right and wrong with the data of a Program, found the slow way: rank by rank and row by
// row, with the order of tasks as a full matrix. Written from the comments of sim/io/program.h and
// from nothing else, to check sim/program.
class ProgramOracle {
 public:
  explicit ProgramOracle(const Program& program);

  // Pairs (earlier, later) of tasks that touch a row on some rank, one writing, and have no order.
  const std::vector<std::pair<int, int>>& races() const { return races_; }
  // Tasks that read a row that nothing has written, and tasks that write one again which does not
  // stand among their reads (void or not).
  const std::vector<int>& unwritten_reads() const { return unwritten_reads_; }
  const std::vector<int>& double_writes() const { return double_writes_; }

  bool ok() const { return races_.empty() && unwritten_reads_.empty() && double_writes_.empty(); }

 private:
  struct Rows {
    std::vector<bool> read;  // by row of all tensors, one after the other
    std::vector<bool> written;
  };

  bool runs(int task, int rank) const;
  std::vector<bool> rows_of(int task, int rank, bool writes, bool with_void = false) const;
  void check_order(int rank);
  void check_values(int rank);

  const Program& program_;
  std::vector<int> first_row_;  // by tensor
  int num_rows_ = 0;
  std::vector<std::pair<int, int>> races_;
  std::vector<int> unwritten_reads_;
  std::vector<int> double_writes_;
};

// The blocks that a region means on a rank, in list order.
std::vector<int> naive_blocks(
    const Program& program, const Task& task, const Region& region, bool writes, int rank);

}  // namespace moesim::testing
