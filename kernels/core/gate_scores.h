#pragma once

#include <cmath>

#include "kernels/core/math.h"
#include "kernels/core/rounding.h"
#include "kernels/core/softmax.h"

namespace moesim {

// How a gate turns logits into the weights with which experts' results are combined.
enum class GateWeighting {
  kNormalized,  // softmax over all experts, then over the sum of the chosen ones (GShard, X-MoE)
  kSigmoid,     // each expert's own sigmoid
  kSoftmax      // softmax over all experts (expert choice)
};

// One row of a gate: E probabilities and the experts that the row chose, in order of choice; kNone
// (-1) where it made no choice.
struct GateRow {
  const float* probabilities = nullptr;
  int experts = 0;
  const int* choices = nullptr;
  int num_choices = 0;
};

template <int T>
MOESIM_HD void gate_probabilities_row(BlockScratch<T>& scratch,
                                      GateWeighting weighting,
                                      const float* logits,
                                      int experts,
                                      float* probabilities) {
  if (weighting != GateWeighting::kSigmoid) {
    softmax_row(scratch, {experts, experts, 1.0F}, logits, probabilities);
    return;
  }
  block_for<T>(experts, [&](int e) { probabilities[e] = sigmoid(logits[e]); });
}

// The k experts of highest probability, best first; the lower one of equals.
template <int T>
MOESIM_HD void choose_top_k(
    BlockScratch<T>& scratch, const float* probabilities, int experts, int k, int* choices) {
  for (int choice = 0; choice < k; ++choice) {
    const int best = block_argmax(
        scratch,
        experts,
        [&](int e) { return probabilities[e]; },
        [&](int e) {
          bool free = true;
          for (int earlier = 0; earlier < choice; ++earlier) {
            free = free && choices[earlier] != e;
          }
          return free;
        });
    phase<T>([&](int thread) {
      if (thread == 0) {
        choices[choice] = best;
      }
    });
  }
}

// A gate that takes its choices from a routing: expert e is listed count_e times, one expert behind
// the other, and entry p of that list is a choice of row p mod rows. `ends` are the running sums of
// the counts.
MOESIM_HD int routed_choice(const int* ends, int experts, int entry) {
  for (int e = 0; e < experts; ++e) {
    if (entry < ends[e]) {
      return e;
    }
  }
  return -1;
}

// How the rows of a domain choose experts, `width` each.
struct ChoiceRule {
  enum class Kind {
    kProbability,  // those of highest probability
    kTurns,        // experts take turns
    kRouted        // from a routing's running sums
  };
  Kind kind = Kind::kProbability;
  int experts = 0;
  int rows = 0;
  int width = 0;
  const int* routed_ends = nullptr;
};

// What the domain's row `row` chooses, with its probabilities.
template <int T>
MOESIM_HD void choose_row(BlockScratch<T>& scratch,
                          const ChoiceRule& rule,
                          int row,
                          const float* probabilities,
                          int* choices) {
  if (rule.kind == ChoiceRule::Kind::kProbability) {
    choose_top_k(scratch, probabilities, rule.experts, rule.width, choices);
    return;
  }
  block_for<T>(rule.width, [&](int i) {
    choices[i] = rule.kind == ChoiceRule::Kind::kTurns
                     ? (row * rule.width + i) % rule.experts
                     : routed_choice(rule.routed_ends, rule.experts, row + i * rule.rows);
  });
}

MOESIM_HD float chosen_sum(const GateRow& row) {
  float sum = 0;
  for (int i = 0; i < row.num_choices; ++i) {
    sum += row.choices[i] < 0 ? 0.0F : row.probabilities[row.choices[i]];
  }
  return sum;
}

// The weight of one of the row's experts. Where all chosen probabilities underflow, it is 0.
MOESIM_HD float combine_weight(GateWeighting weighting, const GateRow& row, int expert) {
  const float probability = row.probabilities[expert];
  if (weighting != GateWeighting::kNormalized) {
    return probability;
  }
  const float sum = chosen_sum(row);
  return sum == 0 ? 0.0F : probability / sum;
}

// The gradient of a probability from those of the weights (by expert, 0 where there is no slot).
// Normalised, w_i = p_i / s with s = sum of the chosen p: dp_i = (dw_i - sum_j dw_j w_j) / s, which
// is 0 to the last bit where a row chose one expert alone.
MOESIM_HD float probability_gradient(GateWeighting weighting,
                                     const GateRow& row,
                                     const float* d_weights,
                                     int expert) {
  if (weighting != GateWeighting::kNormalized) {
    return d_weights[expert];
  }
  const float sum = chosen_sum(row);
  bool chosen = false;
  float mean = 0;
  for (int i = 0; i < row.num_choices; ++i) {
    const int choice = row.choices[i];
    chosen = chosen || choice == expert;
    mean += choice < 0 ? 0.0F : d_weights[choice] * (row.probabilities[choice] / sum);
  }
  return chosen && sum != 0 ? (d_weights[expert] - mean) / sum : 0.0F;
}

// The gradient of a row's logits.
template <int T>
MOESIM_HD void gate_logits_gradient_row(BlockScratch<T>& scratch,
                                        GateWeighting weighting,
                                        const GateRow& row,
                                        const float* d_weights,
                                        float* d_logits) {
  const float* p = row.probabilities;
  block_for<T>(row.experts,
               [&](int e) { d_logits[e] = probability_gradient(weighting, row, d_weights, e); });
  if (weighting != GateWeighting::kSigmoid) {
    softmax_backward_row(scratch, {row.experts, row.experts, 1.0F}, p, d_logits, d_logits);
    return;
  }
  block_for<T>(row.experts, [&](int e) { d_logits[e] *= p[e] * (1.0F - p[e]); });
}

}  // namespace moesim
