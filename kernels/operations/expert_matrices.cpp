#include "kernels/operations/expert_matrices.h"

#include <set>
#include <utility>

namespace moesim {

ExpertMatrices::ExpertMatrices(const TaskSite& site, Operand operand, int num_experts, int columns)
    : operand_(std::move(operand)) {
  require(site, operand_.columns == columns, "its weights have rows of another length than x");
  const std::vector<int64_t> rows = operand_.rows();
  const auto all = static_cast<int64_t>(rows.size());
  require(site, all % num_experts == 0, "its weights are not as many for each expert");
  rows_ = all / num_experts;
  for (int64_t expert = 0; expert < num_experts; ++expert) {
    const auto first = static_cast<size_t>(expert * rows_);
    const auto last = static_cast<size_t>((expert + 1) * rows_ - 1);
    require(site,
            rows_ > 0 && rows[last] - rows[first] == rows_ - 1,
            "an expert's weights do not stand together");
    first_.push_back(rows[first]);
  }
}

std::vector<int> weight_of_block(const std::vector<int>& experts) {
  const std::set<int> distinct(experts.begin(), experts.end());
  std::vector<int> indices;
  for (const int expert : experts) {
    indices.push_back(static_cast<int>(std::distance(distinct.begin(), distinct.find(expert))));
  }
  return indices;
}

}  // namespace moesim
