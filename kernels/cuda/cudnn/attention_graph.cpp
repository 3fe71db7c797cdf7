#include "kernels/cuda/cudnn/attention_graph.h"

#include <limits>
#include <utility>

namespace moesim {
namespace {

using Tensor = GraphBuilder::Tensor;
using Shape = GraphBuilder::Shape;

constexpr cudnnDataType_t kFloat = CUDNN_DATA_FLOAT;
constexpr cudnnDataType_t kBrain = CUDNN_DATA_BFLOAT16;

class AttentionGraph {
 public:
  AttentionGraph(const CudnnFunctions& cudnn, const AttentionExtent& extent)
      : builder_(cudnn),
        extent_(extent),
        scores_(GraphBuilder::dense({extent.samples, extent.heads, extent.queries, extent.keys})),
        statistics_(GraphBuilder::dense({extent.samples, extent.heads, extent.queries, 1})) {}

  // S = scale Q K^T, masked, P = softmax(S), C = P V. The statistics are max + log(sum of exp(S -
  // max)).
  CudnnGraph forward(const FusedAttention& attention) && {
    const Tensor q = queries(AttentionTensor::kQueries, attention.queries);
    const Tensor k = transposed_keys(AttentionTensor::kKeys, attention.keys);
    const Tensor v = keys(AttentionTensor::kValues, attention.values);
    const Tensor s = masked(scaled(product(q, k), builder_.scalar(extent_.scale)));
    const Tensor largest = builder_.within(kFloat, statistics_);
    builder_.reduce(CUDNN_REDUCE_TENSOR_MAX, s, largest);
    const Tensor exponentials = exponential(apply(CUDNN_POINTWISE_SUB, {s, largest}, scores_));
    const Tensor sum = builder_.within(kFloat, statistics_);
    builder_.reduce(CUDNN_REDUCE_TENSOR_ADD, exponentials, sum);
    const Tensor logarithm = apply(CUDNN_POINTWISE_LOG, {sum}, statistics_);
    builder_.pointwise(
        {CUDNN_POINTWISE_ADD}, {largest, logarithm}, statistics(AttentionTensor::kStatistics));
    const Tensor p = builder_.within(kBrain, scores_);
    builder_.pointwise({CUDNN_POINTWISE_DIV}, {exponentials, sum}, p);
    builder_.multiply(p, v, queries(AttentionTensor::kContext, attention.context));
    return std::move(builder_).finish();
  }

  // P = exp(S - statistics), dV = P^T dC, dP = dC V^T, dS = scale P (dP - sums of C dC), dK = dS^T
  // Q, dQ = dS K.
  CudnnGraph backward(const FusedAttentionBackward& attention) && {
    const Tensor q = queries(AttentionTensor::kQueries, attention.forward.queries);
    const Tensor k = transposed_keys(AttentionTensor::kKeys, attention.forward.keys);
    const Tensor v = transposed_keys(AttentionTensor::kValues, attention.forward.values);
    const Tensor c = queries(AttentionTensor::kContext, attention.forward.context);
    const Tensor dc = queries(AttentionTensor::kDContext, attention.d_context);
    const Tensor sums = context_sums(c, dc);
    const Tensor scale = builder_.scalar(extent_.scale);
    const Tensor s = apply(CUDNN_POINTWISE_SUB,
                           {scaled(product(q, k), scale), statistics(AttentionTensor::kStatistics)},
                           scores_);
    const Tensor p = exponential(masked(s));
    multiply_by_keys(p, dc, keys(AttentionTensor::kDValues, attention.d_values));
    const Tensor dp = apply(CUDNN_POINTWISE_SUB, {product(dc, v), sums}, scores_);
    const Tensor ds = scaled(apply(CUDNN_POINTWISE_MUL, {dp, p}, scores_), scale);
    multiply_by_keys(ds, q, keys(AttentionTensor::kDKeys, attention.d_keys));
    add_queries(ds, k, attention);
    return std::move(builder_).finish();
  }

 private:
  Shape rows(const HeadRows& rows, int64_t heads, int64_t count) const {
    return {{extent_.samples, heads, count, extent_.head_size},
            {rows.sample_step, extent_.head_size, rows.row_step, 1}};
  }
  Shape key_rows(const HeadRows& of) const { return rows(of, extent_.kv_heads, extent_.keys); }

  Tensor bound(AttentionTensor which, cudnnDataType_t type, const Shape& shape) {
    return builder_.bound(static_cast<int64_t>(which), type, shape);
  }
  Tensor queries(AttentionTensor which, const HeadRows& of) {
    return bound(which, kBrain, rows(of, extent_.heads, extent_.queries));
  }
  Tensor keys(AttentionTensor which, const HeadRows& of) {
    return bound(which, kBrain, key_rows(of));
  }
  Tensor transposed_keys(AttentionTensor which, const HeadRows& of) {
    return bound(which, kBrain, key_rows(of).transposed());
  }
  Tensor statistics(AttentionTensor which) { return bound(which, kFloat, statistics_); }

  Tensor product(Tensor left, Tensor right) {
    const Tensor to = builder_.within(kFloat, scores_);
    builder_.multiply(left, right, to);
    return to;
  }
  Tensor apply(cudnnPointwiseMode_t mode,
               const GraphBuilder::Arguments& arguments,
               const Shape& shape) {
    const Tensor to = builder_.within(kFloat, shape);
    builder_.pointwise({mode}, arguments, to);
    return to;
  }
  Tensor scaled(Tensor scores, Tensor scale) {
    return apply(CUDNN_POINTWISE_MUL, {scores, scale}, scores_);
  }
  Tensor exponential(Tensor scores) { return apply(CUDNN_POINTWISE_EXP, {scores}, scores_); }

  Tensor index(Tensor scores, int64_t axis) {
    const Tensor to = builder_.within(CUDNN_DATA_INT32, scores_);
    builder_.pointwise({CUDNN_POINTWISE_GEN_INDEX, kFloat, axis}, {scores}, to);
    return to;
  }
  Tensor shifted(cudnnPointwiseMode_t mode, Tensor index, int64_t by) {
    const Tensor to = builder_.within(CUDNN_DATA_INT32, scores_);
    constexpr int64_t kKeyAxis = 3;
    builder_.pointwise(
        {mode, CUDNN_DATA_INT32, kKeyAxis}, {index, builder_.scalar(static_cast<int32_t>(by))}, to);
    return to;
  }

  // Minus infinity where query + keys - queries < key. In this order of operations: kernels are
  // found by it.
  Tensor masked(Tensor scores) {
    if (!extent_.is_causal) {
      return scores;
    }
    Tensor query = index(scores, 2);
    const Tensor key = index(scores, 3);
    if (extent_.keys != extent_.queries) {
      query = shifted(CUDNN_POINTWISE_ADD, query, extent_.keys);
      query = shifted(CUDNN_POINTWISE_SUB, query, extent_.queries);
    }
    const Tensor is_seen = builder_.within(CUDNN_DATA_BOOLEAN, scores_);
    builder_.pointwise({CUDNN_POINTWISE_CMP_GE, CUDNN_DATA_BOOLEAN}, {query, key}, is_seen);
    const Tensor unseen = builder_.scalar(-std::numeric_limits<float>::infinity());
    return apply(CUDNN_POINTWISE_BINARY_SELECT, {scores, unseen, is_seen}, scores_);
  }

  // By 1: kernels are found by a product where dropout has its own.
  Tensor context_sums(Tensor context, Tensor d_context) {
    const Shape shape =
        GraphBuilder::dense({extent_.samples, extent_.heads, extent_.queries, extent_.head_size});
    const Tensor terms = apply(CUDNN_POINTWISE_MUL, {d_context, context}, shape);
    const Tensor sums = builder_.within(kFloat, statistics_);
    builder_.reduce(CUDNN_REDUCE_TENSOR_ADD, terms, sums);
    const Tensor to = statistics(AttentionTensor::kContextSums);
    builder_.pointwise({CUDNN_POINTWISE_MUL}, {sums, builder_.scalar(1.0F)}, to);
    return to;
  }

  // to = scores^T right, summed over the heads that share keys.
  void multiply_by_keys(Tensor scores, Tensor right, Tensor to) {
    Shape shape =
        GraphBuilder::dense({extent_.samples, extent_.heads, extent_.queries, extent_.keys});
    const Tensor transposed = builder_.within(kBrain, shape.transposed());
    builder_.reshape(scores, transposed);
    if (extent_.heads == extent_.kv_heads) {
      builder_.multiply(transposed, right, to);
      return;
    }
    const Tensor of_all = builder_.within(
        kBrain,
        GraphBuilder::dense({extent_.samples, extent_.heads, extent_.keys, extent_.head_size}));
    builder_.multiply(transposed, right, of_all);
    builder_.reduce(CUDNN_REDUCE_TENSOR_ADD, of_all, to);
  }

  void add_queries(Tensor d_scores, Tensor transposed_k, const FusedAttentionBackward& attention) {
    const Tensor k = builder_.within(kBrain, key_rows(attention.forward.keys));
    builder_.reshape(transposed_k, k);
    const Tensor sums = bound(
        AttentionTensor::kDQuerySums,
        kFloat,
        GraphBuilder::dense({extent_.samples, extent_.heads, extent_.queries, extent_.head_size}));
    builder_.multiply(d_scores, k, sums);
    builder_.pointwise({CUDNN_POINTWISE_IDENTITY},
                       {sums},
                       queries(AttentionTensor::kDQueries, attention.d_queries));
  }

  GraphBuilder builder_;
  const AttentionExtent& extent_;
  Shape scores_;
  Shape statistics_;
};

}  // namespace

CudnnGraph attention_graph(const CudnnFunctions& cudnn, const FusedAttention& attention) {
  return AttentionGraph(cudnn, attention.extent).forward(attention);
}

CudnnGraph attention_graph(const CudnnFunctions& cudnn, const FusedAttentionBackward& attention) {
  return AttentionGraph(cudnn, attention.forward.extent).backward(attention);
}

}  // namespace moesim
