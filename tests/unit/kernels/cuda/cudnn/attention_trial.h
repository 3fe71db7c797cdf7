#pragma once

#include <vector>

#include "kernels/device/fused_attention.h"
#include "sim/base/random.h"

namespace moesim::testing {

// Rows q heads | k | v of all samples, context, and their gradients, in host memory: real numbers
// that BF16 holds.
class AttentionTrial {
 public:
  AttentionTrial(const AttentionExtent& extent, Random& random);

  const FusedAttention& forward() const { return backward_.forward; }
  const FusedAttentionBackward& backward() const { return backward_; }
  void use_workspace(int64_t bytes);

  std::vector<float> context() const { return values(context_); }
  std::vector<float> statistics() const { return statistics_; }
  std::vector<float> gradients() const { return values(gradients_); }

 private:
  static std::vector<float> values(const std::vector<Bfloat16>& buffer);

  std::vector<Bfloat16> qkv_;
  std::vector<Bfloat16> context_;
  std::vector<Bfloat16> d_context_;
  std::vector<Bfloat16> gradients_;
  std::vector<float> statistics_;
  std::vector<std::byte> workspace_;
  FusedAttentionBackward backward_;
};

// Of a chunk where there are more keys than queries.
AttentionExtent random_extent(Random& random);

}  // namespace moesim::testing
