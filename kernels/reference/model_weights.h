#pragma once

#include <vector>

#include "kernels/reference/matrix.h"
#include "sim/io/scenario.h"

namespace moesim {

// The weights of one layer of an unpartitioned model, or their gradients.
struct LayerWeights {
  Matrix qkv;              // rows: all query heads, all key heads, all value heads; M columns
  Matrix projection;       // a row for each column of context; M columns
  Matrix gate;             // (M, E)
  std::vector<Matrix> w1;  // by expert: (H, M)
  std::vector<Matrix> w2;  // (H, M)
  std::vector<Matrix> w3;  // (H, M); SwiGLU only
};

// Weights of zeros.
std::vector<LayerWeights> zero_weights(const ModelConfig& model);

// The same in the order of the schedules' global tensors: stage by stage, in each its layers in
// back-propagation order; dense weights member of mp by member, each q | k | v | projection;
// experts by member of ep, then layer, the rows of an expert by member of esp, then matrix.
struct GlobalWeights {
  std::vector<float> dense;
  std::vector<float> gate;
  std::vector<float> expert;
};

std::vector<LayerWeights> from_global(const ModelConfig& model,
                                      const ParallelConfig& parallel,
                                      const GlobalWeights& global);

}  // namespace moesim
