#pragma once

#include "kernels/execute/options.h"
#include "sim/io/gpu_check.h"

namespace moesim {

// Runs the Program once with its attention fused and once by products, on one GPU, with BF16 as its
// tensors say, and compares all buffers. Throws what make_gpu_executor does.
AttentionCase check_fused_attention(const RunOptions& options, const Program& program);

}  // namespace moesim
