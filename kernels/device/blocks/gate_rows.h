#pragma once

#include "kernels/core/cosine_gate.h"
#include "kernels/core/gate_scores.h"
#include "kernels/device/blocks/device_rows.h"

namespace moesim {

// The sums of squares of the columns of a (rows, columns) matrix: a block for each.
struct ColumnSquares {
  enum : int { kThreads = kWideBlockThreads };
  using Scratch = BlockScratch<kThreads>;

  const float* w = nullptr;
  int rows = 0;
  int columns = 0;
  float* squares = nullptr;

  MOESIM_HD void run(int block, Scratch& scratch) const {
    const float sum = column_sum_of_squares(scratch, w, rows, columns, block);
    phase<kThreads>([&](int thread) {
      if (thread == 0) {
        squares[block] = sum;
      }
    });
  }
};

// X-MoE's cosines of rows, over the temperature where they become scores, and 1 / |x| of each row:
// a block for each.
struct CosineScores {
  enum : int { kThreads = kWideBlockThreads };
  using Scratch = BlockScratch<kThreads>;

  CosineRow first;  // row 0
  float temperature = 1;
  float* cosines = nullptr;
  float* inverse_norms = nullptr;  // may be null

  MOESIM_HD void run(int block, Scratch& scratch) const {
    CosineRow row = first;
    row.x += int64_t{block} * row.columns;
    float* own = cosines + int64_t{block} * row.experts;
    const float inverse = cosine_row(scratch, row, own);
    block_for<kThreads>(row.experts, [&](int e) { own[e] /= temperature; });
    phase<kThreads>([&](int thread) {
      if (thread == 0 && inverse_norms != nullptr) {
        inverse_norms[block] = inverse;
      }
    });
  }
};

// Scores of rows become probabilities, in place and in `probs`: a block for each. In both they have
// the precision of `probs`, because backward chooses again by what stands there.
struct GateProbabilities {
  enum : int { kThreads = kBlockThreads };
  using Scratch = BlockScratch<kThreads>;

  float* scores = nullptr;
  GateWeighting weighting = GateWeighting::kNormalized;
  DeviceRows probs;

  MOESIM_HD void run(int block, Scratch& scratch) const {
    const int experts = probs.columns;
    float* own = scores + int64_t{block} * experts;
    gate_probabilities_row(scratch, weighting, own, experts, own);
    const Elements to = probs.row(block);
    block_for<kThreads>(experts, [&](int e) {
      to.store(e, own[e]);
      own[e] = to.load(e);
    });
  }
};

// What each row of a domain chooses: a block for each.
struct GateChoices {
  enum : int { kThreads = kBlockThreads };
  using Scratch = BlockScratch<kThreads>;

  ChoiceRule rule;
  const float* probabilities = nullptr;  // rows x E
  int* choices = nullptr;                // rows x width

  MOESIM_HD void run(int block, Scratch& scratch) const {
    choose_row(scratch,
               rule,
               block,
               probabilities + int64_t{block} * rule.experts,
               choices + int64_t{block} * rule.width);
  }
};

// The gradients of a domain's logits, rounded, from those of the weights of its slots: a block for
// each row.
struct GateGradient {
  enum : int { kThreads = kBlockThreads };
  using Scratch = BlockScratch<kThreads>;

  GateWeighting weighting = GateWeighting::kNormalized;
  Rounding rounding = Rounding::kOff;
  const float* probabilities = nullptr;  // rows x E
  const int* choices = nullptr;
  int width = 0;
  int experts = 0;
  const int32_t* slots = nullptr;  // rows x num_slot_experts, -1: none
  int num_slot_experts = 0;
  DeviceRows d_weight;         // by slot
  float* d_weights = nullptr;  // rows x E, as scratch memory
  float* d_logits = nullptr;   // rows x E

  MOESIM_HD void run(int block, Scratch& scratch) const {
    const int64_t first = int64_t{block} * experts;
    const int32_t* slot_of = slots + int64_t{block} * num_slot_experts;
    float* d_weights_of = d_weights + first;
    block_for<kThreads>(experts, [&](int e) {
      const int slot = e < num_slot_experts ? slot_of[e] : -1;
      d_weights_of[e] = slot < 0 ? 0.0F : d_weight.row(slot).load(0);
    });
    const GateRow row{probabilities + first, experts, choices + int64_t{block} * width, width};
    float* d = d_logits + first;
    gate_logits_gradient_row(scratch, weighting, row, d_weights_of, d);
    block_for<kThreads>(experts, [&](int e) { d[e] = rounded(d[e], rounding); });
  }
};

// What the gradients of X-MoE's rows and embeddings come from.
struct CosineGradients {
  CosineRow first;  // row 0
  const float* cosines = nullptr;
  const float* d_logits = nullptr;
  const float* inverse_norms = nullptr;
  Rounding rounding = Rounding::kOff;

  MOESIM_HD CosineRow row(int64_t i) const {
    CosineRow at = first;
    at.x += i * at.columns;
    return at;
  }
  MOESIM_HD CosineGradient gradient(int64_t i) const {
    return {cosines + i * first.experts, d_logits + i * first.experts, inverse_norms[i]};
  }
};

// Adds to dx: a block for each row.
struct CosineInputGradient {
  enum : int { kThreads = kWideBlockThreads };
  using Scratch = BlockScratch<kThreads>;

  CosineGradients of;
  DeviceRows dx;

  MOESIM_HD void run(int block, Scratch&) const {
    const CosineRow row = of.row(block);
    const CosineGradient gradient = of.gradient(block);
    const Elements to = dx.row(block);
    block_for<kThreads>(row.columns, [&](int m) {
      to.store(m, to.load(m) + cosine_input_gradient(row, gradient, m, of.rounding));
    });
  }
};

// Adds to dw, rows one behind the other: a thread for each element.
struct CosineWeightGradient {
  enum : int { kThreads = kWideBlockThreads };
  using Scratch = BlockScratch<kThreads>;

  CosineGradients of;
  int rows = 0;
  Elements dw;  // (M, E)

  MOESIM_HD void run(int block, Scratch&) const {
    const int experts = of.first.experts;
    const int64_t elements = int64_t{of.first.columns} * experts;
    phase<kThreads>([&](int thread) {
      const int64_t at = int64_t{block} * kThreads + thread;
      if (at >= elements) {
        return;
      }
      const auto column = static_cast<int>(at / experts);
      const auto expert = static_cast<int>(at % experts);
      float sum = dw.load(at);
      for (int i = 0; i < rows; ++i) {
        sum += cosine_weight_gradient(of.row(i), of.gradient(i), column, expert, of.rounding);
      }
      dw.store(at, sum);
    });
  }
};

}  // namespace moesim
