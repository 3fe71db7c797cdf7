#include "kernels/operations/slot_map.h"

#include <algorithm>

namespace moesim {

SlotMap::SlotMap(const Operand& index,
                 const std::vector<int>& experts,
                 int64_t num_rows,
                 TensorStore& tensors)
    : num_experts_(experts.empty() ? 0 : 1 + *std::max_element(experts.begin(), experts.end())),
      slots_(static_cast<size_t>(num_rows * num_experts_), kNone) {
  for (size_t block = 0; block < index.spans.size(); ++block) {
    const RowSpan& span = index.spans[block];
    for (int i = 0; i < span.valid; ++i) {
      const int64_t row = *index.index(tensors, span.first + i);
      const bool is_token = 0 <= row && row < num_rows;
      if (is_token) {
        slots_[static_cast<size_t>(row * num_experts_ + experts[block])] =
            static_cast<int64_t>(rows_.size());
      }
      rows_.push_back(is_token ? row : kNone);
    }
  }
}

}  // namespace moesim
