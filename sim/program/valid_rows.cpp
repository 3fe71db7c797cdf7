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

std::vector<int64_t> ValidRows::sent_rows(const Task& task,
                                          const std::vector<int>& members,
                                          int source) const {
  CHECK(!task.reads.empty(), "task '{}' has no region to send", task.name);
  const Region& region = task.reads.front();
  const auto size = static_cast<int64_t>(members.size());
  const int64_t part = region.num_list_rows() / size;
  if (all_full() || tensors_[region.tensor] == nullptr) {
    return std::vector<int64_t>(members.size(), part);
  }
  std::vector<int64_t> sent(members.size(), 0);
  int64_t begin = 0;  // of the block, in the list of rows
  for (const int block : blocks(region, members[source])) {
    const int64_t end = std::min(begin + region.num_rows, part * size);
    for (int64_t row = begin; row < end;) {
      const int64_t destination = row / part;
      const int64_t next = std::min(end, part * (destination + 1));
      sent[destination] += valid_rows({region.tensor, block, members[source]},
                                      region.first_row + static_cast<int>(row - begin),
                                      region.first_row + static_cast<int>(next - begin));
      row = next;
    }
    begin += region.num_rows;
  }
  return sent;
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
