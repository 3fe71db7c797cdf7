#include "sim/model/sizes.h"

#include <gtest/gtest.h>

namespace moesim {
namespace {

// Mixtral-7B on FSMoE's testbed A: M = 4096, H = 14336, 32 heads, 8 of keys and values, B*L = 4096.
ModelConfig mixtral() {
  ModelConfig model;
  model.layers = 2;
  model.batch = 4;
  model.sequence = 1024;
  model.embedding = 4096;
  model.hidden = 14336;
  model.heads = 32;
  model.kv_heads = 8;
  model.experts = 6;
  model.top_k = 2;
  model.capacity_factor = 1.0;
  model.feed_forward = FeedForward::kSwiglu;
  return model;
}

constexpr ParallelConfig kTestbedA{.mp = 8, .dp = 6, .esp = 8, .ep = 6, .edp = 1};

TEST(SizesTest, AttentionWeightsOfGroupedQueriesAreTwoAndAHalfSquares) {
  const LayerSizes sizes = layer_sizes(mixtral(), kTestbedA);
  // KV = 8 * 4096 / 32 = 1024. QKV (4096 + 2*1024)/8 = 768, projection 4096/8 = 512 rows of M:
  // 1280 * 4096 = 2.5 * 4096^2 / 8 elements.
  EXPECT_EQ(sizes.qkv_columns(), 768);
  EXPECT_EQ(sizes.attention_weight_rows(), 1280);
  EXPECT_EQ(int64_t{sizes.attention_weight_rows()} * 4096, int64_t{5} * 4096 * 4096 / 2 / 8);
}

TEST(SizesTest, ExpertsAreShardedOverEpAndEsp) {
  const LayerSizes sizes = layer_sizes(mixtral(), kTestbedA);
  EXPECT_EQ(sizes.local_experts, 1);      // 6 / 6
  EXPECT_EQ(sizes.hidden_shard, 1792);    // 14336 / 8
  EXPECT_EQ(sizes.hidden_columns, 3584);  // SwiGLU keeps two halves
  EXPECT_EQ(sizes.expert_weight_rows(), 3 * 1792);
  EXPECT_EQ(sizes.token_slice, 512);  // 4096 / 8
}

TEST(SizesTest, CapacityRoundsUp) {
  ModelConfig model = mixtral();
  EXPECT_EQ(capacity_rows(model, 512), 171);  // 2 * 1.0 * 512 / 6 = 170.67
  model.capacity_factor = 1.2;
  model.experts = 24;
  EXPECT_EQ(capacity_rows(model, 100), 10);  // 2 * 1.2 * 100 / 24 = 10 although 1.2 is inexact
  EXPECT_EQ(capacity_rows(model, 101), 11);
  model.capacity_factor.reset();
  EXPECT_EQ(capacity_rows(model, 96), 8);  // 2 * 96 / 24
}

TEST(SizesTest, ForwardFlopsCountEveryProduct) {
  ModelConfig model = mixtral();
  model.layers = 1;
  model.batch = 1;
  model.sequence = 8;
  model.embedding = 4;
  model.hidden = 16;
  model.heads = 2;
  model.kv_heads = 1;
  model.experts = 3;
  model.feed_forward = FeedForward::kSimple;
  // Multiply-adds: QKV and projection 8*4*(4+4+2*2) = 384; scores and values 2*8*8*4 = 512;
  // gate 8*4*3 = 96; experts 2*8*4*16*2 = 2048. Sum 3040, two FLOPs each.
  EXPECT_DOUBLE_EQ(forward_flops_per_layer(model, 1), 2 * 3040.0);
  model.attention = AttentionMask::kCausal;
  EXPECT_DOUBLE_EQ(forward_flops_per_layer(model, 1), 2 * (3040.0 - 256));  // half the scores
  // Forward and twice that backward, on two data-parallel replicas.
  EXPECT_DOUBLE_EQ(model_flops(model, {.mp = 1, .dp = 2}, 1), 2 * 3 * 2 * (3040.0 - 256));
  // Dropped choices are not computed: half of the experts' 2048 are missing.
  EXPECT_DOUBLE_EQ(forward_flops_per_layer(model, 0.5), 2 * (3040.0 - 256 - 1024));
  // X-MoE projects to min(256, M) = 4 columns: 8*4*(4+3) = 224 in place of the gate's 96.
  model.gate = GateKind::kXmoe;
  EXPECT_DOUBLE_EQ(forward_flops_per_layer(model, 1), 2 * (3040.0 - 256 + 224 - 96));
}

}  // namespace
}  // namespace moesim
