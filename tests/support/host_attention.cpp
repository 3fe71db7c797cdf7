#include "tests/support/host_attention.h"

#include <cmath>
#include <vector>

#include "kernels/core/softmax.h"
#include "kernels/gemm.h"

namespace moesim::testing {
namespace {

using Matrix = std::vector<float>;

constexpr int kThreads = kWideBlockThreads;

float in_bfloat16(float value) {
  return to_float(to_bfloat16(value));
}

Elements row_of(const HeadRows& rows, int64_t size, int64_t sample, int64_t head, int64_t row) {
  return rows.first.from(sample * rows.sample_step + row * rows.row_step + head * size);
}

// One head of one sample.
struct Head {
  const AttentionExtent& extent;
  int64_t sample;
  int64_t head;

  int64_t kv_head() const { return head / (extent.heads / extent.kv_heads); }
  MatrixView queries_by_keys(const Matrix& values) const {
    return {values.data(), extent.queries, extent.keys};
  }
  MatrixView rows(const Matrix& values) const {
    return {
        values.data(), static_cast<int64_t>(values.size()) / extent.head_size, extent.head_size};
  }
  SoftmaxShape shape(int64_t query) const {
    const int64_t seen = extent.is_causal ? extent.keys - extent.queries + 1 + query : extent.keys;
    return {static_cast<int>(seen), static_cast<int>(extent.keys), extent.scale};
  }

  Matrix read(const HeadRows& from, int64_t count, int64_t of_head) const {
    Matrix values;
    for (int64_t row = 0; row < count; ++row) {
      const Elements own = row_of(from, extent.head_size, sample, of_head, row);
      for (int64_t i = 0; i < extent.head_size; ++i) {
        values.push_back(own.load(i));
      }
    }
    return values;
  }
  void write(const Matrix& values, const HeadRows& to, int64_t count, int64_t of_head) const {
    for (int64_t row = 0; row < count; ++row) {
      const Elements own = row_of(to, extent.head_size, sample, of_head, row);
      for (int64_t i = 0; i < extent.head_size; ++i) {
        own.store(i, values[static_cast<size_t>(row * extent.head_size + i)]);
      }
    }
  }

  float* statistics(DeviceAddress first) const {
    return reinterpret_cast<float*>(first) + (sample * extent.heads + head) * extent.queries;
  }

  Matrix product(const MatrixView& left, const MatrixView& right) const {
    Matrix result(static_cast<size_t>(left.rows * right.columns));
    multiply(left, right, {result.data(), right.columns});
    return result;
  }
  Matrix scores(const FusedAttention& attention) const {
    const Matrix queries = read(attention.queries, extent.queries, head);
    const Matrix keys = read(attention.keys, extent.keys, kv_head());
    return product(rows(queries), rows(keys).transposed());
  }
};

template <typename Body>
void for_each_head(const AttentionExtent& extent, const Body& body) {
  for (int64_t sample = 0; sample < extent.samples; ++sample) {
    for (int64_t head = 0; head < extent.heads; ++head) {
      body(Head{extent, sample, head});
    }
  }
}

void attend(const FusedAttention& attention, const Head& head) {
  const AttentionExtent& extent = attention.extent;
  Matrix scores = head.scores(attention);
  BlockScratch<kThreads> scratch;
  for (int64_t query = 0; query < extent.queries; ++query) {
    const SoftmaxShape shape = head.shape(query);
    float* own = scores.data() + query * extent.keys;
    const SoftmaxMoments moments = softmax_moments(scratch, shape, own);
    head.statistics(attention.statistics)[query] = moments.largest + std::log(moments.sum);
    for (int i = 0; i < shape.width; ++i) {
      own[i] = in_bfloat16(softmax_value(shape, moments, own[i], i));
    }
  }
  const Matrix values = head.read(attention.values, extent.keys, head.kv_head());
  head.write(head.product(head.queries_by_keys(scores), head.rows(values)),
             attention.context,
             extent.queries,
             head.head);
}

struct Gradients {
  Matrix queries;
  Matrix keys;
  Matrix values;
};

// The sum over a query's keys of p dp is that over its columns of context times d_context
// (FlashAttention-2, section 2.3).
Gradients gradients_of(const FusedAttentionBackward& attention, const Head& head) {
  const AttentionExtent& extent = head.extent;
  const Matrix d_context = head.read(attention.d_context, extent.queries, head.head);
  const Matrix context = head.read(attention.forward.context, extent.queries, head.head);
  const Matrix values = head.read(attention.forward.values, extent.keys, head.kv_head());
  Matrix p = head.scores(attention.forward);
  Matrix ds = head.product(head.rows(d_context), head.rows(values).transposed());
  for (int64_t query = 0; query < extent.queries; ++query) {
    float mean = 0;
    for (int64_t i = query * extent.head_size; i < (query + 1) * extent.head_size; ++i) {
      mean += context[static_cast<size_t>(i)] * d_context[static_cast<size_t>(i)];
    }
    const SoftmaxShape shape = head.shape(query);
    const float statistics = head.statistics(attention.forward.statistics)[query];
    for (int i = 0; i < shape.width; ++i) {
      const auto at = static_cast<size_t>(query * extent.keys + i);
      const float own = i < shape.count ? softmax_term(shape, statistics, p[at]) : 0.0F;
      ds[at] = in_bfloat16(own * (ds[at] - mean) * extent.scale);
      p[at] = in_bfloat16(own);
    }
  }
  const MatrixView d_scores = head.queries_by_keys(ds);
  const Matrix queries = head.read(attention.forward.queries, extent.queries, head.head);
  const Matrix keys = head.read(attention.forward.keys, extent.keys, head.kv_head());
  return {head.product(d_scores, head.rows(keys)),
          head.product(d_scores.transposed(), head.rows(queries)),
          head.product(head.queries_by_keys(p).transposed(), head.rows(d_context))};
}

void add(const Matrix& terms, Matrix& sums) {
  sums.resize(terms.size());
  for (size_t i = 0; i < terms.size(); ++i) {
    sums[i] += terms[i];
  }
}

}  // namespace

void attend_on_host(const FusedAttention& attention) {
  for_each_head(attention.extent, [&](const Head& head) { attend(attention, head); });
}

void attend_on_host(const FusedAttentionBackward& attention) {
  const AttentionExtent& extent = attention.forward.extent;
  const int64_t sharing = extent.heads / extent.kv_heads;
  Matrix d_keys;
  Matrix d_values;
  for_each_head(extent, [&](const Head& head) {
    if (head.head % sharing == 0) {
      d_keys.clear();
      d_values.clear();
    }
    const Gradients own = gradients_of(attention, head);
    head.write(own.queries, attention.d_queries, extent.queries, head.head);
    add(own.keys, d_keys);
    add(own.values, d_values);
    head.write(d_keys, attention.d_keys, extent.keys, head.kv_head());
    head.write(d_values, attention.d_values, extent.keys, head.kv_head());
  });
}

}  // namespace moesim::testing
