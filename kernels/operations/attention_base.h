#pragma once

#include <vector>

#include "kernels/core/softmax.h"
#include "kernels/gemm.h"
#include "kernels/operation.h"
#include "kernels/operations/operand.h"

namespace moesim {

// The columns of qkv, q heads | k | v, and of context.
struct AttentionColumns {
  Attention shape;

  int qkv() const { return (shape.heads + 2 * shape.kv_heads) * shape.head_size; }
  int context() const { return shape.heads * shape.head_size; }
  // The first ones of a head, in qkv; its query's also in context.
  int query(int head) const { return head * shape.head_size; }
  int key(int head) const { return (shape.heads + kv_head(head)) * shape.head_size; }
  int value(int head) const { return key(head) + shape.kv_heads * shape.head_size; }
  int kv_head(int head) const { return head * shape.kv_heads / shape.heads; }
};

// 1 / sqrt(head size): of scores.
float score_scale(const Attention& shape);

// What attention forward and backward share. All work is done sample by sample, each a block of
// the operands: of `keys` rows of qkv, the last `queries` belong to the chunk.
class AttentionBase : public Operation {
 protected:
  AttentionBase(const TaskSite& site, size_t x, size_t weight);

  AttentionColumns columns() const { return {shape_}; }
  int qkv_columns() const { return columns().qkv(); }
  int context_columns() const { return columns().context(); }
  int query(int head) const { return columns().query(head); }
  int key(int head) const { return columns().key(head); }
  int value(int head) const { return columns().value(head); }

  size_t num_samples() const { return x_.spans.size(); }

  // The rows q heads | k | v of the weight, and those of the projection.
  MatrixView qkv_weight(TensorStore& tensors) const;
  MatrixView projection(TensorStore& tensors) const;

  // Columns [first, first + head_size) of rows of qkv.
  MatrixView head_columns(const float* qkv, int64_t rows, int first) const {
    return {qkv + first, rows, shape_.head_size, qkv_columns()};
  }

  // Of `keys` scores of a query those that it sees take part.
  SoftmaxShape softmax_shape(int64_t query_row, int64_t queries, int64_t keys) const;

  // P = softmax(Q K^T / sqrt(head size)) of a head (Vaswani et al., "Attention Is All You Need",
  // 2017, section 3.2.1), not rounded. `qkv` is rounded.
  void probabilities(
      const float* qkv, int64_t queries, int64_t keys, int head, std::vector<float>& p) const;

  Attention shape_;
  Rounding rounding_;
  Operand x_;
  Operand weight_;
};

}  // namespace moesim
