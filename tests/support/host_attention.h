#pragma once

#include "kernels/device/fused_attention.h"

namespace moesim::testing {

// What fused attention computes, on host memory: scores in FP32, probabilities and gradients of
// scores rounded to BF16 where products take them, as FlashAttention-2 does (Dao, 2023, section
// 3.1).
void attend_on_host(const FusedAttention& attention);
void attend_on_host(const FusedAttentionBackward& attention);

// Says that there is a kernel for everything, with a workspace that nobody uses.
class AnyAttention : public FusedAttentionPlanner {
 public:
  std::optional<int64_t> workspace_bytes(const FusedAttention&) override { return 64; }
  std::optional<int64_t> workspace_bytes(const FusedAttentionBackward&) override { return 128; }
};

}  // namespace moesim::testing
