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
  moments.largest = block_max_of_packs(scratch, shape.count, [&](int first, int count) {
    Pack pack = load_pack(scores, first, count);
    for (float& value : pack.values) {
      value *= shape.scale;
    }
    return pack;
  });
  moments.sum = block_sum_of_packs(scratch, shape.count, [&](int first, int count) {
    Pack pack = load_pack(scores, first, count);
    for (float& value : pack.values) {
      value = softmax_term(shape, moments.largest, value);
    }
    return pack;
  });
  return moments;
}

MOESIM_HD float softmax_value(const SoftmaxShape& shape,
                              const SoftmaxMoments& moments,
                              float score,
                              int i) {
  return i < shape.count ? softmax_term(shape, moments.largest, score) / moments.sum : 0.0F;
}

// The same of scores from `first` on.
MOESIM_HD Pack softmax_values(const SoftmaxShape& shape,
                              const SoftmaxMoments& moments,
                              const Pack& scores,
                              int first) {
  Pack values;
  for (int k = 0; k < kPackSize; ++k) {
    values.values[k] = softmax_value(shape, moments, scores.values[k], first + k);
  }
  return values;
}

// Scores become probabilities, in place where both are the same.
template <int T>
MOESIM_HD void softmax_row(BlockScratch<T>& scratch,
                           const SoftmaxShape& shape,
                           const float* scores,
                           float* probabilities) {
  const SoftmaxMoments moments = softmax_moments(scratch, shape, scores);
  block_for_packs<T>(shape.width, [&](int first, int count) {
    const Pack own = load_pack(scores, first, count);
    store_pack(probabilities, first, count, softmax_values(shape, moments, own, first));
  });
}

// The gradient of the scores, scale * p_i * (dp_i - sum_j p_j dp_j), to out(first, count,
// gradients, probabilities). `dp(first, count)` are those of probabilities.
template <int T, typename Gradient, typename Out>
MOESIM_HD void softmax_backward(BlockScratch<T>& scratch,
                                const SoftmaxShape& shape,
                                const float* probabilities,
                                const Gradient& dp,
                                const Out& out) {
  const float mean = block_sum_of_packs(scratch, shape.count, [&](int first, int count) {
    Pack products = load_pack(probabilities, first, count);
    const Pack gradients = dp(first, count);
    for (int k = 0; k < kPackSize; ++k) {
      products.values[k] *= gradients.values[k];
    }
    return products;
  });
  block_for_packs<T>(shape.width, [&](int first, int count) {
    const Pack p = load_pack(probabilities, first, count);
    Pack d = dp(first, count);
    for (int k = 0; k < kPackSize; ++k) {
      d.values[k] =
          first + k < shape.count ? shape.scale * p.values[k] * (d.values[k] - mean) : 0.0F;
    }
    out(first, count, d, p);
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
      [&](int first, int count) { return load_pack(d_probabilities, first, count); },
      [&](int first, int count, const Pack& d, const Pack&) {
        store_pack(d_scores, first, count, d);
      });
}

}  // namespace moesim
