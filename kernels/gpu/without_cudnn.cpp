#include "kernels/gpu/with_cudnn.h"
#include "sim/base/error.h"

namespace moesim {

MakeFusedAttention fused_attention_maker() {
  throw Error(
      "this build has no fused attention; install cuDNN 9.16 or later, configure again and build, "
      "or compute attention by products (--attention products)");
}

}  // namespace moesim
