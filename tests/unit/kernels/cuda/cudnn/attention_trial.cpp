#include "tests/unit/kernels/cuda/cudnn/attention_trial.h"

#include <cmath>

namespace moesim::testing {
namespace {

HeadRows heads_at(std::vector<Bfloat16>& buffer,
                  int64_t first,
                  int64_t row_step,
                  int64_t sample_step) {
  const Elements at{reinterpret_cast<DeviceAddress>(buffer.data()), ElementType::kBfloat16};
  return {at.from(first), row_step, sample_step};
}

std::vector<Bfloat16> random_values(int64_t count, Random& random) {
  std::vector<Bfloat16> values(static_cast<size_t>(count));
  for (Bfloat16& value : values) {
    value = to_bfloat16(static_cast<float>(2 * random.uniform() - 1));
  }
  return values;
}

}  // namespace

AttentionTrial::AttentionTrial(const AttentionExtent& extent, Random& random) {
  const int64_t columns = (extent.heads + 2 * extent.kv_heads) * extent.head_size;
  const int64_t context = extent.heads * extent.head_size;
  const int64_t key = context;
  const int64_t value = key + extent.kv_heads * extent.head_size;
  const int64_t first_query = (extent.keys - extent.queries) * columns;
  const int64_t room = extent.keys + 2;  // rows of a sample, some behind those that take part
  qkv_ = random_values(extent.samples * room * columns, random);
  gradients_ = random_values(extent.samples * room * columns, random);
  context_ = random_values(extent.samples * extent.queries * context, random);
  d_context_ = random_values(extent.samples * extent.queries * context, random);
  statistics_.resize(static_cast<size_t>(extent.num_statistics()));
  const auto rows = [&](std::vector<Bfloat16>& buffer, int64_t first) {
    return heads_at(buffer, first, columns, room * columns);
  };
  const auto contexts = [&](std::vector<Bfloat16>& buffer) {
    return heads_at(buffer, 0, context, extent.queries * context);
  };
  backward_.forward = {extent,
                       rows(qkv_, first_query),
                       rows(qkv_, key),
                       rows(qkv_, value),
                       contexts(context_),
                       reinterpret_cast<DeviceAddress>(statistics_.data()),
                       0};
  backward_.d_context = contexts(d_context_);
  backward_.d_queries = rows(gradients_, first_query);
  backward_.d_keys = rows(gradients_, key);
  backward_.d_values = rows(gradients_, value);
}

void AttentionTrial::use_workspace(int64_t bytes) {
  workspace_.resize(static_cast<size_t>(bytes));
  backward_.forward.workspace = reinterpret_cast<DeviceAddress>(workspace_.data());
}

std::vector<float> AttentionTrial::values(const std::vector<Bfloat16>& buffer) {
  std::vector<float> values;
  for (const Bfloat16& value : buffer) {
    values.push_back(to_float(value));
  }
  return values;
}

AttentionExtent random_extent(Random& random) {
  AttentionExtent extent;
  extent.samples = random.uniform_int(1, 3);
  extent.kv_heads = random.uniform_int(1, 2);
  extent.heads = extent.kv_heads * random.uniform_int(1, 3);
  extent.head_size = 8 * random.uniform_int(1, 2);
  extent.queries = random.uniform_int(1, 6);
  extent.is_causal = random.uniform() < 0.7;
  extent.keys = extent.queries + (extent.is_causal ? random.uniform_int(0, 5) : 0);
  extent.scale = 1 / std::sqrt(static_cast<float>(extent.head_size));
  return extent;
}

}  // namespace moesim::testing
