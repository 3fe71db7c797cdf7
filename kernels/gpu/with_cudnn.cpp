#include "kernels/gpu/with_cudnn.h"

#include "kernels/cuda/cudnn/cudnn_attention.h"

namespace moesim {

MakeFusedAttention fused_attention_maker() {
  return [cudnn = open_cudnn()] { return std::make_unique<CudnnAttention>(cudnn); };
}

}  // namespace moesim
