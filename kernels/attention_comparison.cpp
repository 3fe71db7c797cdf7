#include "kernels/attention_comparison.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/core.h>

namespace moesim {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

double relative_difference(const TensorStore& actual,
                           const TensorStore& expected,
                           int rank,
                           int tensor) {
  const Tensor& shape = expected.program().tensors[static_cast<size_t>(tensor)];
  const int64_t count = int64_t{shape.blocks} * shape.rows * shape.columns;
  const float* left = actual.values(rank, tensor);
  const float* right = expected.values(rank, tensor);
  double difference = 0;
  double norm = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (std::isnan(left[i]) || std::isnan(right[i])) {
      difference += std::isnan(left[i]) && std::isnan(right[i]) ? 0 : kInfinity;
      continue;
    }
    difference += std::pow(double{left[i]} - double{right[i]}, 2);
    norm += std::pow(double{right[i]}, 2);
  }
  return difference > 0 ? std::sqrt(difference / norm) : 0;
}

AttentionCase compare_attention(const TensorStore& fused,
                                const TensorStore& products,
                                int num_fused) {
  const Program& program = products.program();
  AttentionCase result{program.name, num_fused, 0, 0, {}};
  for (int tensor = 0; tensor < static_cast<int>(program.tensors.size()); ++tensor) {
    const Tensor& shape = program.tensors[static_cast<size_t>(tensor)];
    for (const int rank : products.ranks()) {
      if (shape.dtype == DataType::kInt32) {
        continue;
      }
      ++result.num_buffers;
      const double error = relative_difference(fused, products, rank, tensor);
      if (!std::isfinite(error)) {
        result.failure = fmt::format(
            "{} of rank {} is no number in one of the two, or zero in one", shape.name, rank);
        return result;
      }
      result.largest_error = std::max(result.largest_error, error);
    }
  }
  return result;
}

}  // namespace moesim
