#pragma once

#include "kernels/core/math.h"
#include "kernels/core/phase.h"

namespace moesim {

// Of a row of `width` values the first `count` take part; the others are 0 in the result.
struct SoftmaxShape {
  int count = 0;
  int width = 0;
  float scale = 1;  // of the scores
};

// Scores become probabilities, in place where both are the same.
template <int T>
MOESIM_HD void softmax_row(BlockScratch<T>& scratch,
                           const SoftmaxShape& shape,
                           const float* scores,
                           float* probabilities) {
  const auto scaled = [&](int i) { return scores[i] * shape.scale; };
  const float largest = block_max_of(scratch, shape.count, scaled);
  block_for<T>(shape.count, [&](int i) { probabilities[i] = exponential(scaled(i) - largest); });
  const float sum = block_sum_of(scratch, shape.count, [&](int i) { return probabilities[i]; });
  block_for<T>(shape.width,
               [&](int i) { probabilities[i] = i < shape.count ? probabilities[i] / sum : 0.0F; });
}

// The gradient of the scores: scale * p_i * (dp_i - sum_j p_j dp_j). In place where `d_scores` is
// `d_probabilities`.
template <int T>
MOESIM_HD void softmax_backward_row(BlockScratch<T>& scratch,
                                    const SoftmaxShape& shape,
                                    const float* probabilities,
                                    const float* d_probabilities,
                                    float* d_scores) {
  const float mean = block_sum_of(
      scratch, shape.count, [&](int i) { return probabilities[i] * d_probabilities[i]; });
  block_for<T>(shape.width, [&](int i) {
    d_scores[i] =
        i < shape.count ? shape.scale * probabilities[i] * (d_probabilities[i] - mean) : 0.0F;
  });
}

}  // namespace moesim
