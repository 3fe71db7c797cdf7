#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/core/elements.h"

namespace moesim {

// What a fused attention computes: heads of `head_size` columns, of which heads / kv_heads in a row
// share keys and values. The i-th of `queries` queries sees the first keys - queries + 1 + i keys
// where attention is causal, otherwise all. Samples are of one size.
struct AttentionExtent {
  int64_t samples = 1;
  int64_t heads = 1;
  int64_t kv_heads = 1;
  int64_t head_size = 0;
  int64_t queries = 0;
  int64_t keys = 0;
  bool is_causal = false;
  float scale = 1;  // of scores

  // Pairs of a query and a key that it sees, of one head.
  int64_t num_seen() const;
  // Of statistics: one for each sample, head and query, in this order.
  int64_t num_statistics() const { return samples * heads * queries; }

  friend auto operator<=>(const AttentionExtent&, const AttentionExtent&) = default;
};

// Rows of BF16 whose heads stand one behind the other; steps are in elements.
struct HeadRows {
  Elements first;
  int64_t row_step = 0;
  int64_t sample_step = 0;
};

// context = softmax(scale * queries keys^T) values. The statistics are FP32: of each query the
// logarithm of the sum of the exponentials of its scaled scores.
struct FusedAttention {
  AttentionExtent extent;
  HeadRows queries;
  HeadRows keys;
  HeadRows values;
  HeadRows context;
  DeviceAddress statistics = 0;
  DeviceAddress workspace = 0;
};

// The gradients of queries, keys and values take the place of what stands there. Reads the context
// and the statistics of the forward pass; its workspace is this step's own.
struct FusedAttentionBackward {
  FusedAttention forward;
  HeadRows d_context;
  HeadRows d_queries;
  HeadRows d_keys;
  HeadRows d_values;
};

// All of an attention but its addresses: alike for those that one kernel computes.
struct AttentionLayout {
  explicit AttentionLayout(const FusedAttention& attention);
  explicit AttentionLayout(const FusedAttentionBackward& attention);

  AttentionExtent extent;
  std::vector<int64_t> steps;  // more of them backward

  friend auto operator<=>(const AttentionLayout&, const AttentionLayout&) = default;
};

// Knows what fused kernels there are. Addresses count as aligned as the extents and steps let them
// be: buffers begin at multiples of kDeviceAlignment.
class FusedAttentionPlanner {
 public:
  FusedAttentionPlanner() = default;
  virtual ~FusedAttentionPlanner() = default;
  FusedAttentionPlanner(const FusedAttentionPlanner&) = delete;
  FusedAttentionPlanner& operator=(const FusedAttentionPlanner&) = delete;
  FusedAttentionPlanner(FusedAttentionPlanner&&) = delete;
  FusedAttentionPlanner& operator=(FusedAttentionPlanner&&) = delete;

  // Bytes of the workspace, or nothing where no kernel does it. Always the same for the same
  // extents and steps.
  virtual std::optional<int64_t> workspace_bytes(const FusedAttention& attention) = 0;
  virtual std::optional<int64_t> workspace_bytes(const FusedAttentionBackward& attention) = 0;
};

}  // namespace moesim
