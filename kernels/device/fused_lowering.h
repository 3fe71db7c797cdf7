#pragma once

#include <optional>
#include <vector>

#include "kernels/device/attention_lowering.h"

namespace moesim {

// Samples of equally many elements of BF16, equally far from each other.
struct EvenSamples {
  Elements first;
  int64_t count = 0;  // elements of each
  int64_t step = 0;
};

// Nothing where samples are otherwise, or in more than one piece. `samples`: the runs of each.
std::optional<EvenSamples> even_samples(const std::vector<std::vector<ElementRun>>& samples);

// The heads of all samples as fused attention takes them, the queries the last rows of those of
// qkv; statistics and workspace are still missing.
FusedAttention fused_heads(const AttentionLowering& attention,
                           const EvenSamples& qkv,
                           const EvenSamples& context,
                           int64_t samples);

// Gradients of queries, keys and values that stand as qkv does.
void set_gradients(FusedAttentionBackward& attention,
                   const AttentionColumns& columns,
                   const EvenSamples& d_qkv);

// Whether a task may fuse at all: nothing within a fused kernel can be rounded as the exact mode
// asks, and they take BF16 alone.
bool may_fuse(TaskLowering& task);

}  // namespace moesim
