#pragma once

#include "sim/io/scenario.h"

namespace moesim {

// Row counts and matrix widths of one layer on one rank. Notation of ModelConfig; KV is the width
// of keys (and of values) over all heads.
struct LayerSizes {
  int tokens = 0;            // B*L, of an mp group
  int token_slice = 0;       // tokens / mp
  int query_columns = 0;     // M / mp
  int kv_columns = 0;        // KV / mp
  int local_experts = 0;     // E / ep
  int hidden_shard = 0;      // H / esp
  int hidden_columns = 0;    // hidden_shard, twice that for SwiGLU's two halves
  int num_expert_gemms = 0;  // 2, SwiGLU 3

  int qkv_columns() const { return query_columns + 2 * kv_columns; }
  // Rows of M elements: M*(M + 2*KV)/mp for QKV, M*M/mp for the projection.
  int attention_weight_rows() const { return qkv_columns() + query_columns; }
  // Rows of M elements of one expert's shard.
  int expert_weight_rows() const { return num_expert_gemms * hidden_shard; }
};

LayerSizes layer_sizes(const ModelConfig& model, const ParallelConfig& parallel);

// Rows per expert of a capacity buffer filled from a domain of `domain_rows` tokens:
// T = ceil(k*f*rows/E). Without a factor f = 1: the balanced load.
int capacity_rows(const ModelConfig& model, int domain_rows);

// Columns of the space in which X-MoE compares tokens and experts: the default of Tutel's
// CosineTopKGate (proj_dim). Assumed; FSMoE's paper does not give its own.
inline constexpr int kXmoeColumns = 256;

// FLOPs of one layer's forward pass over the tokens of one mp group, as the model field
// `attention` counts them. Experts compute `kept_share` of the tokens' k choices each
// (analysis: kept_share).
double forward_flops_per_layer(const ModelConfig& model, double kept_share);

// Model FLOPs of one iteration of the whole cluster, as utilisation counts them: forward plus
// backward of what is computed once: no recomputation, no dropped token, no empty slot.
double model_flops(const ModelConfig& model, const ParallelConfig& parallel, double kept_share);

}  // namespace moesim
