#include "kernels/reference/reference_attention.h"

#include <cmath>

#include "kernels/core/softmax.h"

namespace moesim {
namespace {

// Of L scores of the query at a position.
SoftmaxShape shape_at(const ModelConfig& model, int position) {
  const bool causal = model.attention == AttentionMask::kCausal;
  return {causal ? position + 1 : model.sequence,
          model.sequence,
          1.0F / std::sqrt(static_cast<float>(model.head_size()))};
}

}  // namespace

std::vector<ReferenceAttention::Head> ReferenceAttention::heads() const {
  const int64_t size = model_->head_size();
  const int group = model_->heads / model_->kv_heads;
  std::vector<Head> heads;
  for (int64_t row = 0; row < x_.rows; row += model_->sequence) {
    for (int head = 0; head < model_->heads; ++head) {
      const int64_t key = (model_->heads + head / group) * size;
      heads.push_back({row, head * size, key, key + model_->kv_heads * size});
    }
  }
  return heads;
}

Matrix ReferenceAttention::columns(const Matrix& from, const Head& head, int64_t column) const {
  return block(from, head.row, column, model_->sequence, model_->head_size());
}

Matrix ReferenceAttention::probabilities(const Head& head) const {
  Matrix p = columns(qkv_, head, head.query) * transposed(columns(qkv_, head, head.key));
  BlockScratch<kWideBlockThreads> scratch;
  for (int position = 0; position < model_->sequence; ++position) {
    softmax_row(scratch, shape_at(*model_, position), p.row(position), p.row(position));
  }
  return p;
}

Matrix ReferenceAttention::forward(const Matrix& x) {
  x_ = rounded(x, rounding_);
  qkv_ = rounded(x_ * transposed(weights_->qkv), rounding_);
  Matrix context(x.rows, model_->embedding);
  for (const Head& head : heads()) {
    const Matrix p = rounded(probabilities(head), rounding_);
    add_block(p * columns(qkv_, head, head.value), head.row, head.query, context);
  }
  context_ = rounded(std::move(context), rounding_);
  return context_ * weights_->projection;
}

// The gradient of the scores, rounded.
Matrix ReferenceAttention::score_gradient(const Matrix& p, Matrix d) const {
  BlockScratch<kWideBlockThreads> scratch;
  for (int position = 0; position < model_->sequence; ++position) {
    softmax_backward_row(
        scratch, shape_at(*model_, position), p.row(position), d.row(position), d.row(position));
  }
  return rounded(std::move(d), rounding_);
}

Matrix ReferenceAttention::backward(const Matrix& dy, LayerWeights& gradients) const {
  const Matrix d_output = rounded(dy, rounding_);
  gradients.projection += transposed(context_) * d_output;
  const Matrix d_context = rounded(d_output * transposed(weights_->projection), rounding_);
  Matrix d_qkv(qkv_.rows, qkv_.columns);
  for (const Head& head : heads()) {
    const Matrix p = probabilities(head);
    const Matrix d_head = columns(d_context, head, head.query);
    const Matrix d_p = rounded(d_head * transposed(columns(qkv_, head, head.value)), rounding_);
    const Matrix d_scores = score_gradient(p, d_p);
    add_block(d_scores * columns(qkv_, head, head.key), head.row, head.query, d_qkv);
    add_block(transposed(d_scores) * columns(qkv_, head, head.query), head.row, head.key, d_qkv);
    add_block(transposed(rounded(p, rounding_)) * d_head, head.row, head.value, d_qkv);
  }
  d_qkv = rounded(std::move(d_qkv), rounding_);
  gradients.qkv += transposed(d_qkv) * x_;
  return d_qkv * weights_->qkv;
}

}  // namespace moesim
