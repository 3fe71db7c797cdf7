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

// Scores become probabilities, in place; and, where it has an address, rounded in `factors`. A
// block for each row.
struct SoftmaxRows {
  enum : int { kThreads = kWideBlockThreads };
  using Scratch = BlockScratch<kThreads>;

  ScoreRows rows;
  Rounding rounding = Rounding::kOff;
  float* scores = nullptr;
  Elements factors;

  MOESIM_HD void run(int block, Scratch& scratch) const {
    float* own = scores + rows.first(block);
    softmax_row(scratch, rows.shape(block), own, own);
    if (is_empty(factors)) {
      return;
    }
    const Elements to = factors.from(rows.first(block));
    block_for<kThreads>(rows.keys, [&](int i) { to.store(i, rounded(own[i], rounding)); });
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
  float* gradients = nullptr;
  Elements probability_factors;
  Elements gradient_factors;

  MOESIM_HD void run(int block, Scratch& scratch) const {
    const float* p = probabilities + rows.first(block);
    float* d = gradients + rows.first(block);
    block_for<kThreads>(rows.keys, [&](int i) { d[i] = rounded(d[i], rounding); });
    softmax_backward_row(scratch, rows.shape(block), p, d, d);
    const Elements p_to = probability_factors.from(rows.first(block));
    const Elements d_to = gradient_factors.from(rows.first(block));
    block_for<kThreads>(rows.keys, [&](int i) {
      p_to.store(i, rounded(p[i], rounding));
      d_to.store(i, rounded(d[i], rounding));
    });
  }
};

}  // namespace moesim
