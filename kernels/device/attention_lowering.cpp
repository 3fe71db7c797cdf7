#include "kernels/device/attention_lowering.h"

namespace moesim {

std::vector<HeadBatch> head_batches(const Attention& shape) {
  std::vector<HeadBatch> batches;
  if (shape.heads % shape.kv_heads != 0) {
    for (int head = 0; head < shape.heads; ++head) {
      batches.push_back({head, 1, 1});
    }
    return batches;
  }
  const int sharing = shape.heads / shape.kv_heads;
  for (int head = 0; head < sharing; ++head) {
    batches.push_back({head, sharing, shape.kv_heads});
  }
  return batches;
}

void AttentionLowering::probabilities(const Sample& at,
                                      float* scores,
                                      Rounding rounding,
                                      const Elements& to) const {
  std::vector<Product> products;
  for (const HeadBatch& batch : head_batches(shape)) {
    const DeviceMatrix own = scores_of(at, floats(scores), batch.first);
    products.push_back(batched({.left = queries(at, batch.first),
                                .right = keys(at, batch.first).transposed(),
                                .target = own.at,
                                .target_stride = at.keys},
                               batch,
                               {query_step(batch), key_step(), score_step(at, batch)}));
  }
  task.multiply(products);
  task.kernel(SoftmaxRows{rows_of_scores(at), rounding, scores, to}, score_rows(at));
}

Elements sample_factor(TaskLowering& task, const Operand& operand, size_t sample) {
  const RowRun rows = operand.block(sample);
  return task.packed({{task.at(operand, rows.first), rows.count * operand.columns}},
                     task.rounding(),
                     task.factor_type());
}

}  // namespace moesim
