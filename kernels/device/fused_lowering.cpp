#include "kernels/device/fused_lowering.h"

#include <algorithm>

namespace moesim {
namespace {

// The heads from column `column` on of rows of `columns` columns, from `row` on.
HeadRows heads_at(const EvenSamples& samples, int64_t columns, int64_t row, int64_t column) {
  return {samples.first.from(row * columns + column), columns, samples.step};
}

}  // namespace

std::optional<EvenSamples> even_samples(const std::vector<std::vector<ElementRun>>& samples) {
  std::vector<ElementRun> wholes;
  for (const std::vector<ElementRun>& runs : samples) {
    const std::vector<ElementRun> whole = joined(runs);
    if (whole.size() != 1 || whole.front().at.type != ElementType::kBfloat16) {
      return std::nullopt;
    }
    wholes.push_back(whole.front());
  }
  if (wholes.empty()) {
    return std::nullopt;
  }
  EvenSamples even{wholes.front().at, wholes.front().count, wholes.front().count};
  if (wholes.size() > 1) {
    even.step =
        (static_cast<int64_t>(wholes[1].at.address) - static_cast<int64_t>(wholes[0].at.address)) /
        size_of(ElementType::kBfloat16);
  }
  for (size_t i = 0; i < wholes.size(); ++i) {
    const DeviceAddress expected = even.first.from(static_cast<int64_t>(i) * even.step).address;
    if (wholes[i].count != even.count || wholes[i].at.address != expected) {
      return std::nullopt;
    }
  }
  return even.step >= even.count ? std::optional(even) : std::nullopt;
}

FusedAttention fused_heads(const AttentionLowering& attention,
                           const EvenSamples& qkv,
                           const EvenSamples& context,
                           int64_t samples) {
  const AttentionColumns& columns = attention.columns;
  const Attention& shape = attention.shape;
  const int64_t queries = context.count / columns.context();
  const int64_t keys = qkv.count / columns.qkv();
  FusedAttention fused;
  fused.extent = {.samples = samples,
                  .heads = shape.heads,
                  .kv_heads = shape.kv_heads,
                  .head_size = shape.head_size,
                  .queries = queries,
                  .keys = keys,
                  .is_causal = shape.causal,
                  .scale = score_scale(shape)};
  fused.queries = heads_at(qkv, columns.qkv(), keys - queries, columns.query(0));
  fused.keys = heads_at(qkv, columns.qkv(), 0, columns.key(0));
  fused.values = heads_at(qkv, columns.qkv(), 0, columns.value(0));
  fused.context = heads_at(context, columns.context(), 0, 0);
  return fused;
}

void set_gradients(FusedAttentionBackward& attention,
                   const AttentionColumns& columns,
                   const EvenSamples& d_qkv) {
  const AttentionExtent& extent = attention.forward.extent;
  const int64_t first_query = extent.keys - extent.queries;
  attention.d_queries = heads_at(d_qkv, columns.qkv(), first_query, columns.query(0));
  attention.d_keys = heads_at(d_qkv, columns.qkv(), 0, columns.key(0));
  attention.d_values = heads_at(d_qkv, columns.qkv(), 0, columns.value(0));
}

bool may_fuse(TaskLowering& task) {
  const auto& shape = std::get<Attention>(task.site().task->descriptor);
  return task.space().attention() != nullptr && task.rounding() == Rounding::kOff &&
         task.factor_type() == ElementType::kBfloat16 && shape.heads % shape.kv_heads == 0;
}

}  // namespace moesim
