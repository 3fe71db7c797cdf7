#include "sim/program/valid_rows.h"

#include <algorithm>

#include "sim/base/check.h"
#include "sim/program/footprint.h"
#include "sim/program/row_flow.h"

namespace moesim {

ValidRows::ValidRows(const Program& program) : program_(&program) {
  if (std::any_of(program.tasks.begin(), program.tasks.end(), RowFlow::is_source)) {
    groups_.update(program);
    tensors_ = RowFlow(program).run();
  }
}

bool ValidRows::all_full() const {
  return tensors_.empty();
}

int64_t ValidRows::valid_rows(const Region& region, int rank) const {
  if (all_full() || tensors_[region.tensor] == nullptr) {
    return region.num_list_rows();
  }
  int64_t valid = 0;
  for (const int block : blocks(region, rank)) {
    valid += valid_rows(
        {region.tensor, block, rank}, region.first_row, region.first_row + region.num_rows);
  }
  return valid;
}

int64_t ValidRows::sent_rows(const Task& task,
                             const std::vector<int>& members,
                             int source,
                             int destination) const {
  CHECK(!task.reads.empty(), "task '{}' has no region to send", task.name);
  const Region& region = task.reads.front();
  const int64_t part = region.num_list_rows() / static_cast<int64_t>(members.size());
  if (all_full() || tensors_[region.tensor] == nullptr) {
    return part;
  }
  const int64_t first = part * destination;
  const int64_t end = first + part;
  int64_t valid = 0;
  int64_t block_begin = 0;  // in the list of rows
  for (const int block : blocks(region, members[source])) {
    const int64_t from = std::max(first, block_begin) - block_begin;
    const int64_t to = std::min(end, block_begin + region.num_rows) - block_begin;
    if (from < to) {
      valid += valid_rows({region.tensor, block, members[source]},
                          region.first_row + static_cast<int>(from),
                          region.first_row + static_cast<int>(to));
    }
    block_begin += region.num_rows;
  }
  return valid;
}

int64_t ValidRows::valid_rows(const Block& block, int first_row, int end_row) const {
  const int64_t count = tensors_[block.tensor]->counts[block.rank][block.block];
  const int64_t nominal = program_->tensors[block.tensor].rows;
  return end_row * count / nominal - first_row * count / nominal;
}

std::vector<int> ValidRows::blocks(const Region& region, int rank) const {
  std::vector<int> result;
  const auto footprint = make_footprint(*program_, groups_, Task{}, region, Use::kRead);
  if (!footprint) {
    return result;
  }
  std::vector<BlockRange> ranges;
  blocks_on(*program_, groups_, *footprint, rank, ranges);
  for (const BlockRange& range : ranges) {
    for (int block = range.first; block < range.end; ++block) {
      result.push_back(block);
    }
  }
  return result;
}

}  // namespace moesim
