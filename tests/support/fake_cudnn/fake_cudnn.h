#pragma once

#include "kernels/cuda/cudnn/cudnn_functions.h"

namespace moesim::testing {

// A cuDNN on the FakeCuda that lives, whose faults and counts of calls it shares: any graph has one
// kernel, which evaluates it operation by operation. Like cuDNN it takes only finalized
// descriptors.
CudnnFunctions fake_cudnn();

}  // namespace moesim::testing
