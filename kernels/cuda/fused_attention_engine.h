#pragma once

#include <memory>

#include <cuda_runtime_api.h>

#include "kernels/cuda/cuda_options.h"
#include "kernels/device/fused_attention.h"

namespace moesim {

// Who launches the fused attention that it planned.
class FusedAttentionEngine : public FusedAttentionPlanner {
 public:
  // Puts it on the stream. It must have been planned. Throws CudaError.
  virtual void launch(const FusedAttention& attention, cudaStream_t stream) = 0;
  virtual void launch(const FusedAttentionBackward& attention, cudaStream_t stream) = 0;
};

// What a trace says of runs with one.
inline constexpr const char* kFusedAttentionAssumption =
    "attention is fused where there is a kernel for it; backward it runs forward once more, for "
    "the "
    "softmax's statistics";

// Null where there is no way to make one.
inline std::unique_ptr<FusedAttentionEngine> make_fused_attention(const MakeFusedAttention& make) {
  return make ? make() : nullptr;
}

}  // namespace moesim
