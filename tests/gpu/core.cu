// Uses every function of kernels/core in device code, so that nvcc compiles it. Never run: what the
// functions compute is tested on the host, from the same source.
#include "kernels/core/activation.h"
#include "kernels/core/cosine_gate.h"
#include "kernels/core/gate_scores.h"
#include "kernels/core/gate_slots.h"
#include "kernels/core/optimizer.h"
#include "kernels/core/softmax.h"
#include "kernels/core/token_rows.h"

namespace moesim {
namespace {

constexpr int T = kBlockThreads;

// Memory of the device, and what the host would pass by value.
struct Arguments {
  float* values;
  float* others;
  int* indices;
  int count;
  Rounding rounding;
  GateWeighting weighting;
};

__global__ void elements(Arguments a) {
  const int i = static_cast<int>(threadIdx.x);
  const HiddenRow hidden{a.values, a.count, true};
  const HiddenGradient gradient = activation_gradient(hidden, i, a.others[i], a.rounding);
  AdamMoments moments{gradient.gate, gradient.linear};
  a.others[i] = adam_step(activation(hidden, i, a.rounding), a.others[i], moments);
  a.values[i] = sgd_step(sigmoid(a.values[i]), a.others[i]);
  round_values(a.values, a.count, a.rounding, a.others);
}

__global__ void rows(Arguments a) {
  __shared__ BlockScratch<T> scratch;
  copy_row<T>(a.values, a.count, a.others);
  add_row<T>(a.values, a.count, a.others);
  scale_row<T>(a.values[0], a.values, a.count, a.rounding, a.others);
  add_scaled_row<T>(a.values[0], a.values, a.count, a.rounding, a.others);
  a.values[0] = dot_rows(scratch, a.values, a.others, a.count, a.rounding);
  const SoftmaxShape shape{a.count, a.count, 1.0F};
  softmax_row(scratch, shape, a.values, a.others);
  softmax_backward_row(scratch, shape, a.values, a.others, a.others);
}

__global__ void cosine_gate(Arguments a) {
  __shared__ BlockScratch<T> scratch;
  a.others[0] = column_sum_of_squares(a.values, a.count, a.count, 0);
  const CosineRow row{a.values, a.count, a.values, a.count, a.others};
  cosine_row(scratch, row, a.others);
  const CosineGradient gradient{a.others, a.others, a.values, a.values};
  cosine_backward_row(scratch, row, gradient, a.rounding);
}

__global__ void gate(Arguments a) {
  __shared__ BlockScratch<T> scratch;
  gate_probabilities_row(scratch, a.weighting, a.values, a.count, a.others);
  choose_top_k(scratch, a.others, a.count, 2, a.indices);
  a.indices[2] = routed_choice(a.indices, a.count, 0);
  const GateRow row{a.others, a.count, a.indices, 2};
  a.values[0] = combine_weight(a.weighting, row, 0);
  gate_logits_gradient_row(scratch, a.weighting, row, a.values, a.values);
}

__global__ void gate_slots(Arguments a) {
  __shared__ BlockScratch<T> scratch;
  const auto fill = [&](int slot, int row) { a.indices[slot] = row; };
  fill_expert_slots(scratch, {a.indices, a.count, 2}, 0, a.count, fill);
  fill_chosen_slots<T>({a.values, a.count, a.count}, 0, a.count, fill);
}

}  // namespace

// Device code of kernels that nothing launches would be left out.
void launch_all(Arguments arguments) {
  elements<<<1, T>>>(arguments);
  rows<<<1, T>>>(arguments);
  cosine_gate<<<1, T>>>(arguments);
  gate<<<1, T>>>(arguments);
  gate_slots<<<1, T>>>(arguments);
}

}  // namespace moesim
