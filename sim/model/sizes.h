#pragma once

#include <cstdint>

#include "sim/io/scenario.h"

namespace moesim {

// Row counts and matrix widths of one layer under a parallel layout. All of them are what one rank
// holds or computes.
struct LayerSizes {
  int64_t tokens = 0;          // B*L, of an mp group
  int64_t token_slice = 0;     // tokens / mp
  int qkv_columns = 0;         // (M + 2*KV) / mp
  int context_columns = 0;     // M / mp
  int attention_weight_rows = 0;  // rows of M elements: qkv_columns + context_columns
  int local_experts = 0;       // E / ep
  int hidden_shard = 0;        // H / esp
  int hidden_columns = 0;      // hidden_shard, twice that for SwiGLU's two halves
  int num_expert_gemms = 0;    // 2, SwiGLU 3
};

LayerSizes layer_sizes(const ModelConfig& model, const ParallelConfig& parallel);

// Rows per expert of a capacity buffer filled from a domain of `domain_rows` tokens:
// T = ceil(k*f*rows/E); without drops and with balanced routing f = 1.
int64_t capacity_rows(const ModelConfig& model, int64_t domain_rows);

// Model FLOPs of one iteration of the whole cluster, as utilisation counts them: forward plus
// backward, without recomputation, full attention counted as the model field says.
double model_flops(const ModelConfig& model, const ParallelConfig& parallel);

}  // namespace moesim
