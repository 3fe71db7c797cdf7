#pragma once

#include <utility>
#include <vector>

#include "kernels/core/rounding.h"
#include "kernels/reference/matrix.h"
#include "kernels/reference/model_weights.h"
#include "kernels/reference/token_trace.h"
#include "sim/io/scenario.h"

namespace moesim {

// What an unpartitioned model computes from: rows of M elements, token by token.
struct ReferenceInputs {
  Matrix input;
  Matrix target;
  std::vector<LayerWeights> weights;
  std::vector<CapacityDomain> domains;
};

// A token that has a slot of an expert.
using Assignment = std::pair<int64_t, int>;

struct ReferenceResults {
  Matrix output;
  Matrix d_input;
  std::vector<LayerWeights> gradients;
  std::vector<LayerWeights> weights;                 // after the optimizer, if the model has one
  std::vector<std::vector<Assignment>> assignments;  // by layer, ascending
};

// One training iteration of the model on one process without partitions, chunks or recomputation:
// forward, the loss's gradient, backward, optimizer. It takes the capacity domains of a schedule
// and shares with the schedules' operations the core functions and the matrix product alone. Throws
// Error where the domains do not hold every token of a layer once.
ReferenceResults run_reference(const ModelConfig& model,
                               const ReferenceInputs& inputs,
                               Rounding rounding);

}  // namespace moesim
