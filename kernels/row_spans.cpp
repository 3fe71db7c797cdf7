#include "kernels/row_spans.h"

namespace moesim {

RowMap::RowMap(const Program& program) : program_(&program), valid_rows_(program) {
  groups_.update(program);
}

std::vector<RowSpan> RowMap::spans(const Task& task,
                                   const Region& region,
                                   Use use,
                                   int rank) const {
  std::vector<RowSpan> spans;
  const auto footprint = make_footprint(*program_, groups_, task, region, use);
  if (!footprint) {
    return spans;
  }
  const int64_t rows = program_->tensors[region.tensor].rows;
  const RowCounts* counts = valid_rows_.counts(region.tensor);
  std::vector<BlockRange> ranges;
  blocks_on(*program_, groups_, *footprint, rank, ranges);
  for (const BlockRange& range : ranges) {
    for (int block = range.first; block < range.end; ++block) {
      const int64_t held = counts == nullptr ? rows : counts->counts[rank][block];
      const int64_t first = region.first_row * held / rows;
      const int64_t end = (int64_t{region.first_row} + region.num_rows) * held / rows;
      spans.push_back({block * rows + first, region.num_rows, static_cast<int>(end - first)});
    }
  }
  return spans;
}

}  // namespace moesim
