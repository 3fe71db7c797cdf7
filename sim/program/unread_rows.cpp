// Rows that are written and never read, of tensors that are read elsewhere: no race, but the mark
// of a region that is off by some rows.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/program/problems.h"

namespace moesim {
namespace {

using Interval = std::pair<int, int>;  // rows [first, end)

struct Rows {
  std::vector<Interval> read;
  std::vector<Interval> written;
  bool whole_blocks = true;  // every region takes all blocks
};

void add(const Program& program,
         const Region& region,
         std::vector<Interval> Rows::*use,
         std::vector<Rows>& tensors) {
  Rows& rows = tensors[static_cast<size_t>(region.tensor)];
  (rows.*use).emplace_back(region.first_row, region.first_row + region.num_rows);
  const Tensor& tensor = program.tensors[static_cast<size_t>(region.tensor)];
  rows.whole_blocks =
      rows.whole_blocks && region.relative_to == kNone && region.num_blocks == tensor.blocks;
}

// The first written row that nothing reads, or kNone.
int first_unread(Rows rows) {
  std::sort(rows.read.begin(), rows.read.end());
  for (const Interval& written : rows.written) {
    int row = written.first;
    for (const Interval& read : rows.read) {
      if (read.first <= row && row < read.second) {
        row = read.second;
      }
    }
    if (row < written.second) {
      return row;
    }
  }
  return kNone;
}

}  // namespace

std::vector<std::string> unread_row_warnings(const Program& program) {
  std::vector<Rows> tensors(program.tensors.size());
  for (const Task& task : program.tasks) {
    for (const Region& region : task.reads) {
      add(program, region, &Rows::read, tensors);
    }
    for (const Region& region : task.writes) {
      add(program, region, &Rows::written, tensors);
    }
  }
  std::vector<std::string> warnings;
  for (size_t tensor = 0; tensor < tensors.size(); ++tensor) {
    Rows& rows = tensors[tensor];
    if (rows.read.empty() || !rows.whole_blocks) {
      continue;  // an output, or blocks that differ from rank to rank
    }
    const int row = first_unread(std::move(rows));
    if (row != kNone) {
      warnings.push_back(
          fmt::format("row {} of tensor '{}' is written and never read, unlike others",
                      row,
                      program.tensors[tensor].name));
    }
  }
  return warnings;
}

}  // namespace moesim
