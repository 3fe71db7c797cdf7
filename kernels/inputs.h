#pragma once

#include "kernels/tensor_store.h"

namespace moesim {

// What the Program's input tensors hold.
enum class InputData {
  // Integers, tokens in [-4, 4] and weights in [-1, 1]: in Rounding::kExact every sum is then exact
  // in FP32, whatever its order.
  kInteger,
  // Real numbers: tokens in [-1, 1), weights scaled by the root of what a product sums up over.
  kReal
};

// Writes every input tensor of the ranks in the store. An element depends on the tensor's seed and
// on its place in the global tensor that the placement describes, so that replicas are equal and
// every schedule of a scenario works on the same data. Of a partial tensor the group's member 0
// holds the values, the others zeros. Optimizer state begins as zeros.
void fill_inputs(InputData data, TensorStore& store);

}  // namespace moesim
