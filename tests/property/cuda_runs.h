#pragma once

#include <string>

#include "kernels/cuda/cuda_options.h"
#include "kernels/tensor_store.h"

namespace moesim::testing {

// Integer data, rounded so that every sum is exact.
TensorStore exact_inputs(const Program& program);

// What the CPU backend leaves in all buffers.
TensorStore cpu_results(const Program& program);

// What the CUDA backend leaves there, on a GPU or on the fake that lives.
TensorStore cuda_results(const Program& program, CudaOptions options);

// The first buffer in which the two differ in a bit, among those that the CUDA backend brings back;
// empty where there is none. `only_results`: those that it does not keep are left aside.
std::string first_difference(const TensorStore& actual,
                             const TensorStore& expected,
                             bool only_results);

}  // namespace moesim::testing
