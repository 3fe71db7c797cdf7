#pragma once

#include "kernels/reference/reference.h"
#include "kernels/tensor_store.h"

namespace moesim {

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
