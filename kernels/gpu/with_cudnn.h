#pragma once

#include "kernels/cuda/cuda_options.h"

namespace moesim {

// By cuDNN (with_cudnn.cpp). Throws Error where the build has none (without_cudnn.cpp), Failure
// where its library is not found.
MakeFusedAttention fused_attention_maker();

}  // namespace moesim
