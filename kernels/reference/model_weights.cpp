#include "kernels/reference/model_weights.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "sim/model/sizes.h"

namespace moesim {
namespace {

// Copies the global tensors of a stage's weights into its layers.
class Copy {
 public:
  Copy(const ModelConfig& model, const ParallelConfig& parallel, const GlobalWeights& global)
      : model_(model),
        parallel_(parallel),
        sizes_(layer_sizes(model, parallel)),
        global_(global),
        layers_(zero_weights(model)) {}

  std::vector<LayerWeights> run() && {
    for (int layer = 0; layer < model_.layers; ++layer) {
      const int place = model_.layers - 1 - layer;
      LayerWeights& weights = layers_[static_cast<size_t>(layer)];
      for (int member = 0; member < parallel_.mp; ++member) {
        dense(weights, member, place);
      }
      const int64_t count = int64_t{model_.embedding} * model_.experts;
      std::copy_n(global_.gate.data() + place * count, count, weights.gate.row(0));
      for (int expert = 0; expert < model_.experts; ++expert) {
        experts(weights, expert, place);
      }
    }
    return std::move(layers_);
  }

 private:
  void dense(LayerWeights& weights, int member, int place) const {
    const int64_t columns = model_.embedding;
    const int64_t queries = sizes_.query_columns;
    const int64_t keys = sizes_.kv_columns;
    const int64_t own = sizes_.attention_weight_rows();
    const float* from =
        global_.dense.data() + (int64_t{member} * model_.layers + place) * own * columns;
    const auto take = [&](int64_t rows, float* to) {
      std::copy_n(from, rows * columns, to);
      from += rows * columns;
    };
    const int64_t all_queries = queries * parallel_.mp;
    const int64_t all_keys = keys * parallel_.mp;
    take(queries, weights.qkv.row(member * queries));
    take(keys, weights.qkv.row(all_queries + member * keys));
    take(keys, weights.qkv.row(all_queries + all_keys + member * keys));
    take(queries, weights.projection.row(member * queries));
  }

  void experts(LayerWeights& weights, int expert, int place) const {
    const int64_t shard = int64_t{sizes_.hidden_shard} * model_.embedding;
    const int owner = expert / sizes_.local_experts;
    const int local = expert % sizes_.local_experts;
    const int64_t block = (int64_t{owner} * model_.layers + place) * sizes_.local_experts + local;
    for (int member = 0; member < parallel_.esp; ++member) {
      for (int matrix = 0; matrix < sizes_.num_expert_gemms; ++matrix) {
        const int64_t at =
            ((block * parallel_.esp + member) * sizes_.num_expert_gemms + matrix) * shard;
        auto& matrices = matrix == 0 ? weights.w1 : (matrix == 1 ? weights.w2 : weights.w3);
        std::copy_n(
            global_.expert.data() + at,
            shard,
            matrices[static_cast<size_t>(expert)].row(int64_t{member} * sizes_.hidden_shard));
      }
    }
  }

  const ModelConfig& model_;
  const ParallelConfig& parallel_;
  LayerSizes sizes_;
  const GlobalWeights& global_;
  std::vector<LayerWeights> layers_;
};

std::vector<float> part_of(const std::vector<float>& values, int parts, int part) {
  const auto size = std::ssize(values) / parts;
  return {values.begin() + part * size, values.begin() + (part + 1) * size};
}

}  // namespace

std::vector<LayerWeights> zero_weights(const ModelConfig& model) {
  const int64_t columns = model.embedding;
  const int64_t kv = int64_t{model.kv_heads} * model.head_size();
  LayerWeights layer;
  layer.qkv = Matrix(columns + 2 * kv, columns);
  layer.projection = Matrix(columns, columns);
  layer.gate = Matrix(columns, model.experts);
  const std::vector<Matrix> experts(static_cast<size_t>(model.experts),
                                    Matrix(model.hidden, columns));
  layer.w1 = experts;
  layer.w2 = experts;
  if (model.feed_forward == FeedForward::kSwiglu) {
    layer.w3 = experts;
  }
  return std::vector<LayerWeights>(static_cast<size_t>(model.layers), layer);
}

std::vector<LayerWeights> from_global(const ModelConfig& model,
                                      const ParallelConfig& parallel,
                                      const GlobalWeights& global) {
  ModelConfig stage_model = model;
  stage_model.layers /= parallel.pp;
  std::vector<LayerWeights> layers;
  for (int stage = 0; stage < parallel.pp; ++stage) {
    const GlobalWeights part{part_of(global.dense, parallel.pp, stage),
                             part_of(global.gate, parallel.pp, stage),
                             part_of(global.expert, parallel.pp, stage)};
    std::vector<LayerWeights> own = Copy(stage_model, parallel, part).run();
    std::move(own.begin(), own.end(), std::back_inserter(layers));
  }
  return layers;
}

}  // namespace moesim
