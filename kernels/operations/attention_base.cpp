#include "kernels/operations/attention_base.h"

#include <cmath>

namespace moesim {

float score_scale(const Attention& shape) {
  return 1.0F / std::sqrt(static_cast<float>(shape.head_size));
}

AttentionBase::AttentionBase(const TaskSite& site, size_t x, size_t weight)
    : shape_(std::get<Attention>(site.task->descriptor)),
      rounding_(site.rounding),
      x_(read_operand(site, x, "x")),
      weight_(read_operand(site, weight, "w")) {
  require(site, shape_.heads > 0 && shape_.kv_heads > 0 && shape_.head_size > 0, "it has no heads");
  require(site, weight_.columns == x_.columns, "its weight has rows of another length than x");
  require(site,
          weight_.runs().size() == 1 && weight_.num_rows() == qkv_columns() + context_columns(),
          "its weight does not have a row for each column of qkv and context");
}

MatrixView AttentionBase::qkv_weight(TensorStore& tensors) const {
  return {weight_.row(tensors, weight_.spans.front().first), qkv_columns(), weight_.columns};
}

MatrixView AttentionBase::projection(TensorStore& tensors) const {
  const float* rows = weight_.row(tensors, weight_.spans.front().first + qkv_columns());
  return {rows, context_columns(), weight_.columns};
}

SoftmaxShape AttentionBase::softmax_shape(int64_t query_row, int64_t queries, int64_t keys) const {
  const int64_t seen = shape_.causal ? keys - queries + query_row + 1 : keys;
  return {static_cast<int>(seen), static_cast<int>(keys), score_scale(shape_)};
}

void AttentionBase::probabilities(
    const float* qkv, int64_t queries, int64_t keys, int head, std::vector<float>& p) const {
  p.resize(static_cast<size_t>(queries * keys));
  const float* own = qkv + (keys - queries) * qkv_columns();
  multiply(head_columns(own, queries, query(head)),
           head_columns(qkv, keys, key(head)).transposed(),
           {p.data(), keys});
  BlockScratch<kWideBlockThreads> scratch;
  for (int64_t row = 0; row < queries; ++row) {
    float* scores = p.data() + row * keys;
    softmax_row(scratch, softmax_shape(row, queries, keys), scores, scores);
  }
}

}  // namespace moesim
