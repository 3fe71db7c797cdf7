#pragma once

#include "kernels/tensor_store.h"
#include "sim/io/gpu_check.h"

namespace moesim {

// Of a buffer: the norm of the difference over the norm of what is expected, in FP32's values. What
// both have not written differs by nothing; where only one has, or nothing was expected but zeros,
// it is infinite.
double relative_difference(const TensorStore& actual,
                           const TensorStore& expected,
                           int rank,
                           int tensor);

// How far the floating buffers of one run, whose attention was fused in `num_fused` steps, are from
// those of another by products. Of a difference without a number `failure` names the buffer.
AttentionCase compare_attention(const TensorStore& fused,
                                const TensorStore& products,
                                int num_fused);

}  // namespace moesim
