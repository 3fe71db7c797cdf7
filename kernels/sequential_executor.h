#pragma once

#include "kernels/core/rounding.h"
#include "kernels/row_spans.h"
#include "kernels/tensor_store.h"

namespace moesim {

// Runs the tasks of a Program one after the other in launch order, each on all ranks that run it,
// on the calling thread: what the Program computes, without its concurrency. The store holds all
// ranks. Throws Error where a collective is not one task of all members of its group.
void run_in_launch_order(const RowMap& map, Rounding rounding, TensorStore& tensors);

}  // namespace moesim
