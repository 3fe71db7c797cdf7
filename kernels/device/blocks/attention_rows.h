#pragma once

#include "kernels/core/elements.h"
#include "kernels/core/rounding.h"
#include "kernels/core/softmax.h"

namespace moesim {

// The rows of scores of one or more heads, `queries` of each: the i-th query sees `first_seen` + i
// keys where attention is causal, otherwise all.
struct ScoreRows {
  int queries = 0;
  int keys = 0;
  int first_seen = 0;
  bool causal = false;
  float scale = 1;

  MOESIM_HD SoftmaxShape shape(int row) const {
    return {causal ? first_seen + row % queries : keys, keys, scale};
  }
  MOESIM_HD int64_t first(int row) const { return int64_t{row} * keys; }
};

// Scores become probabilities, rounded. A block for each row. They may take the scores' place.
struct SoftmaxRows {
  enum : int { kThreads = kWideBlockThreads };
  using Scratch = BlockScratch<kThreads>;

  ScoreRows rows;
  Rounding rounding = Rounding::kOff;
  const float* scores = nullptr;
  Elements probabilities;

  MOESIM_HD void run(int block, Scratch& scratch) const {
    const SoftmaxShape shape = rows.shape(block);
    const float* own = scores + rows.first(block);
    const SoftmaxMoments moments = softmax_moments(scratch, shape, own);
    const Elements to = probabilities.from(rows.first(block));
    block_for_packs<kThreads>(rows.keys, [&](int first, int count) {
      const Pack scores_of = load_pack(own, first, count);
      to.store_pack(
          first, count, rounded(softmax_values(shape, moments, scores_of, first), rounding));
    });
  }
};

// The gradients of probabilities, rounded first, become those of scores; both they and the
// probabilities are then rounded to factors. A block for each row. Factors may stand where their
// values do.
struct SoftmaxBackwardRows {
  enum : int { kThreads = kWideBlockThreads };
  using Scratch = BlockScratch<kThreads>;

  ScoreRows rows;
  Rounding rounding = Rounding::kOff;
  const float* probabilities = nullptr;
  const float* gradients = nullptr;
  Elements probability_factors;
  Elements gradient_factors;

  MOESIM_HD void run(int block, Scratch& scratch) const {
    const float* p = probabilities + rows.first(block);
    const float* d = gradients + rows.first(block);
    const Elements p_to = probability_factors.from(rows.first(block));
    const Elements d_to = gradient_factors.from(rows.first(block));
    softmax_backward(
        scratch,
        rows.shape(block),
        p,
        [&](int first, int count) { return rounded(load_pack(d, first, count), rounding); },
        [&](int first, int count, const Pack& d_scores, const Pack& own) {
          d_to.store_pack(first, count, rounded(d_scores, rounding));
          p_to.store_pack(first, count, rounded(own, rounding));
        });
  }
};

}  // namespace moesim
