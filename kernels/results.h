#pragma once

#include <string>
#include <vector>

#include "kernels/kernel_times.h"
#include "kernels/repeat.h"
#include "kernels/tensor_store.h"

namespace moesim {

// A line for each buffer of the store, in the Program's order of tensors: a hash of its bytes, its
// rank, its tensor.
std::string results_to_text(const TensorStore& tensors);

struct ExecutedRuns {
  RepeatedRuns runs;
  std::string results;                // results_to_text of all ranks after the last run
  std::vector<KernelTime> kernels{};  // where they are asked for
};

}  // namespace moesim
