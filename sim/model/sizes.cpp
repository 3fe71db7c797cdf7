#include "sim/model/sizes.h"

#include <algorithm>
#include <cmath>

#include "sim/base/check.h"

namespace moesim {
namespace {

// M*E; X-MoE projects tokens to d columns and compares them there: d*(M+E) (program: gate_work).
double gate_macs_per_token(const ModelConfig& model) {
  const double embedding = model.embedding;
  if (model.gate == GateKind::kXmoe) {
    return std::min<double>(kXmoeColumns, embedding) * (embedding + model.experts);
  }
  return embedding * model.experts;
}

}  // namespace

LayerSizes layer_sizes(const ModelConfig& model, const ParallelConfig& parallel) {
  CHECK(model.heads > 0 && parallel.mp > 0 && parallel.ep > 0 && parallel.esp > 0);
  LayerSizes sizes;
  sizes.tokens = static_cast<int>(model.tokens());
  sizes.token_slice = sizes.tokens / parallel.mp;
  sizes.query_columns = model.embedding / parallel.mp;
  sizes.kv_columns = model.kv_heads * model.head_size() / parallel.mp;
  sizes.local_experts = model.experts / parallel.ep;
  sizes.hidden_shard = model.hidden / parallel.esp;
  const bool swiglu = model.feed_forward == FeedForward::kSwiglu;
  sizes.hidden_columns = swiglu ? 2 * sizes.hidden_shard : sizes.hidden_shard;
  sizes.num_expert_gemms = swiglu ? 3 : 2;
  return sizes;
}

int capacity_rows(const ModelConfig& model, int domain_rows) {
  // T = ceil(k*f*rows/E) (FSMoE, section 2). Expert-choice without a factor keeps the balanced
  // load.
  const double factor = model.capacity_factor.value_or(1.0);
  const double rows = model.top_k * factor * domain_rows / model.experts;
  // 1.2 has no exact binary form: 2*1.2*100/24 must stay 10.
  constexpr double kRounding = 1e-9;
  return static_cast<int>(std::ceil(rows * (1 - kRounding)));
}

double forward_flops_per_layer(const ModelConfig& model, double kept_share) {
  const auto tokens = static_cast<double>(model.tokens());
  const double embedding = model.embedding;
  const double kv_columns = model.kv_heads * model.head_size();
  // Multiply-adds of QKV and projection, then of scores and weighted values: 2*B*L*keys*M, where a
  // causal token sees (L+1)/2 keys on average, counted L/2 as SP-MoE does (INFOCOM'25).
  const double keys =
      model.attention == AttentionMask::kCausal ? model.sequence / 2.0 : model.sequence;
  const double attention =
      tokens * embedding * (2 * embedding + 2 * kv_columns) + 2 * tokens * keys * embedding;
  const double gate = tokens * gate_macs_per_token(model);
  const int gemms = model.feed_forward == FeedForward::kSwiglu ? 3 : 2;
  const double experts = kept_share * model.top_k * tokens * embedding * model.hidden * gemms;
  return 2 * (attention + gate + experts);
}

double model_flops(const ModelConfig& model, const ParallelConfig& parallel, double kept_share) {
  constexpr double kForwardAndBackward = 3;  // backward computes two gradients per product
  return kForwardAndBackward * forward_flops_per_layer(model, kept_share) * model.layers *
         parallel.dp;
}

}  // namespace moesim
