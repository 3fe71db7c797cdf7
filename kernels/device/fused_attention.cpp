#include "kernels/device/fused_attention.h"

namespace moesim {
namespace {

void add_steps(const HeadRows& rows, std::vector<int64_t>& steps) {
  steps.push_back(rows.row_step);
  steps.push_back(rows.sample_step);
}

}  // namespace

AttentionLayout::AttentionLayout(const FusedAttention& attention) : extent(attention.extent) {
  for (const HeadRows& rows :
       {attention.queries, attention.keys, attention.values, attention.context}) {
    add_steps(rows, steps);
  }
}

AttentionLayout::AttentionLayout(const FusedAttentionBackward& attention)
    : AttentionLayout(attention.forward) {
  for (const HeadRows& rows :
       {attention.d_context, attention.d_queries, attention.d_keys, attention.d_values}) {
    add_steps(rows, steps);
  }
}

// The last query sees all keys, each one before it one less.
int64_t AttentionExtent::num_seen() const {
  return is_causal ? queries * keys - queries * (queries - 1) / 2 : queries * keys;
}

}  // namespace moesim
