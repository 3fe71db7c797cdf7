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

// Of a row's scores: what they are shifted by, so that none overflows, and their sum.
struct SoftmaxMoments {
  float largest = 0;
  float sum = 0;
};

MOESIM_HD float softmax_term(const SoftmaxShape& shape, float largest, float score) {
  return exponential(score * shape.scale - largest);
}

// Takes every score twice and keeps none: what comes of them goes where it is wanted.
template <int T>
MOESIM_HD SoftmaxMoments softmax_moments(BlockScratch<T>& scratch,
                                         const SoftmaxShape& shape,
                                         const float* scores) {
  SoftmaxMoments moments;
  moments.largest =
      block_max_of(scratch, shape.count, [&](int i) { return scores[i] * shape.scale; });
  moments.sum = block_sum_of(
      scratch, shape.count, [&](int i) { return softmax_term(shape, moments.largest, scores[i]); });
  return moments;
}

MOESIM_HD float softmax_value(const SoftmaxShape& shape,
                              const SoftmaxMoments& moments,
                              const float* scores,
                              int i) {
  return i < shape.count ? softmax_term(shape, moments.largest, scores[i]) / moments.sum : 0.0F;
}

// Scores become probabilities, in place where both are the same.
template <int T>
MOESIM_HD void softmax_row(BlockScratch<T>& scratch,
                           const SoftmaxShape& shape,
                           const float* scores,
                           float* probabilities) {
  const SoftmaxMoments moments = softmax_moments(scratch, shape, scores);
  block_for<T>(shape.width,
               [&](int i) { probabilities[i] = softmax_value(shape, moments, scores, i); });
}

// The gradient of the scores, scale * p_i * (dp_i - sum_j p_j dp_j), to out(i, gradient). `dp(i)`
// is that of a probability.
template <int T, typename Gradient, typename Out>
MOESIM_HD void softmax_backward(BlockScratch<T>& scratch,
                                const SoftmaxShape& shape,
                                const float* probabilities,
                                const Gradient& dp,
                                const Out& out) {
  const float mean =
      block_sum_of(scratch, shape.count, [&](int i) { return probabilities[i] * dp(i); });
  block_for<T>(shape.width, [&](int i) {
    out(i, i < shape.count ? shape.scale * probabilities[i] * (dp(i) - mean) : 0.0F);
  });
}

// The same in memory; in place where `d_scores` is `d_probabilities`.
template <int T>
MOESIM_HD void softmax_backward_row(BlockScratch<T>& scratch,
                                    const SoftmaxShape& shape,
                                    const float* probabilities,
                                    const float* d_probabilities,
                                    float* d_scores) {
  softmax_backward(
      scratch,
      shape,
      probabilities,
      [&](int i) { return d_probabilities[i]; },
      [&](int i, float d_score) { d_scores[i] = d_score; });
}

}  // namespace moesim
