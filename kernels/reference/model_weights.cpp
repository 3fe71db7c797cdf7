#include "kernels/reference/model_weights.h"

#include <algorithm>

#include "sim/model/sizes.h"

namespace moesim {
namespace {

// Calls pair(row of the layers, row of the global tensor, number of elements) for all weights.
template <typename Layers, typename Global, typename Pair>
class Walk {
 public:
  Walk(const ModelConfig& model, const ParallelConfig& parallel, Layers& layers, Global& global)
      : model_(model),
        parallel_(parallel),
        sizes_(layer_sizes(model, parallel)),
        layers_(layers),
        global_(global) {}

  void run(const Pair& pair) {
    for (int layer = 0; layer < model_.layers; ++layer) {
      const int place = model_.layers - 1 - layer;
      auto& weights = layers_[static_cast<size_t>(layer)];
      for (int member = 0; member < parallel_.mp; ++member) {
        dense(weights, member, place, pair);
      }
      const int64_t gate = int64_t{place} * model_.embedding * model_.experts;
      pair(weights.gate.row(0),
           global_.gate.data() + gate,
           int64_t{model_.embedding} * model_.experts);
      for (int expert = 0; expert < model_.experts; ++expert) {
        experts(weights, expert, place, pair);
      }
    }
  }

 private:
  void dense(auto& weights, int member, int place, const Pair& pair) {
    const int64_t columns = model_.embedding;
    const int64_t queries = sizes_.query_columns;
    const int64_t keys = sizes_.kv_columns;
    const int64_t own = sizes_.attention_weight_rows();
    auto* row = global_.dense.data() + (int64_t{member} * model_.layers + place) * own * columns;
    const int64_t all_queries = queries * parallel_.mp;
    const int64_t all_keys = keys * parallel_.mp;
    pair(weights.qkv.row(member * queries), row, queries * columns);
    row += queries * columns;
    pair(weights.qkv.row(all_queries + member * keys), row, keys * columns);
    row += keys * columns;
    pair(weights.qkv.row(all_queries + all_keys + member * keys), row, keys * columns);
    row += keys * columns;
    pair(weights.projection.row(member * queries), row, queries * columns);
  }

  void experts(auto& weights, int expert, int place, const Pair& pair) {
    const int64_t shard = int64_t{sizes_.hidden_shard} * model_.embedding;
    const int owner = expert / sizes_.local_experts;
    const int local = expert % sizes_.local_experts;
    const int64_t block = (int64_t{owner} * model_.layers + place) * sizes_.local_experts + local;
    for (int member = 0; member < parallel_.esp; ++member) {
      for (int matrix = 0; matrix < sizes_.num_expert_gemms; ++matrix) {
        const int64_t at =
            ((block * parallel_.esp + member) * sizes_.num_expert_gemms + matrix) * shard;
        auto& matrices = matrix == 0 ? weights.w1 : (matrix == 1 ? weights.w2 : weights.w3);
        pair(matrices[static_cast<size_t>(expert)].row(int64_t{member} * sizes_.hidden_shard),
             global_.expert.data() + at,
             shard);
      }
    }
  }

  const ModelConfig& model_;
  const ParallelConfig& parallel_;
  LayerSizes sizes_;
  Layers& layers_;
  Global& global_;
};

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
  std::vector<LayerWeights> layers = zero_weights(model);
  const auto copy = [](float* to, const float* from, int64_t count) {
    std::copy_n(from, count, to);
  };
  Walk<std::vector<LayerWeights>, const GlobalWeights, decltype(copy)>(
      model, parallel, layers, global)
      .run(copy);
  return layers;
}

GlobalWeights to_global(const ModelConfig& model,
                        const ParallelConfig& parallel,
                        const std::vector<LayerWeights>& layers) {
  const LayerSizes sizes = layer_sizes(model, parallel);
  const auto count = [&](int64_t rows, int64_t columns) {
    return static_cast<size_t>(model.layers * rows * columns);
  };
  GlobalWeights global;
  global.dense.resize(count(int64_t{parallel.mp} * sizes.attention_weight_rows(), model.embedding));
  global.gate.resize(count(model.embedding, model.experts));
  global.expert.resize(
      count(int64_t{model.experts} * parallel.esp * sizes.expert_weight_rows(), model.embedding));
  const auto copy = [](const float* from, float* to, int64_t elements) {
    std::copy_n(from, elements, to);
  };
  Walk<const std::vector<LayerWeights>, GlobalWeights, decltype(copy)>(
      model, parallel, layers, global)
      .run(copy);
  return global;
}

}  // namespace moesim
