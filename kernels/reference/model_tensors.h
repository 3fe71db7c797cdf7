#pragma once

#include "kernels/reference/reference.h"
#include "kernels/tensor_store.h"

namespace moesim {

// The tensors of a Program that a reference can be compared with, found through the tasks that
// read or write them; kNone where there is none.
struct ModelTensors {
  int input = kNone;
  int target = kNone;
  int output = kNone;
  int d_input = kNone;
  struct Parameters {
    int weight = kNone;
    int gradient = kNone;
  };
  Parameters dense;
  Parameters gate;
  Parameters expert;
};

ModelTensors find_model_tensors(const Program& program);

// What a store, filled with inputs and not yet run, gives the reference of its model.
ReferenceInputs reference_inputs(const RowMap& map,
                                 const ModelConfig& model,
                                 const ParallelConfig& parallel,
                                 const TensorStore& store);

// What the ranks of a store computed together, in the reference's layout: output, gradients,
// weights, assignments.
ReferenceResults gather_results(const RowMap& map,
                                const ModelConfig& model,
                                const ParallelConfig& parallel,
                                const TensorStore& store);

}  // namespace moesim
