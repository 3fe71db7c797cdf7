#pragma once

#include <vector>

#include "kernels/device/task_lowering.h"
#include "kernels/operations/attention_base.h"

namespace moesim {

// Heads first, first + step, …, `count` of them, the k-th of which has keys and values of its own.
struct HeadBatch {
  int first = 0;
  int step = 1;
  int count = 1;
};

std::vector<HeadBatch> head_batches(const Attention& shape);

// One sample: its rows of qkv as factors, of which the last `queries` are the chunk's own.
struct Sample {
  Elements qkv;
  int64_t queries = 0;
  int64_t keys = 0;
};

// What attention forward and backward share: its weights and the columns of heads, and scores.
class AttentionLowering {
 public:
  AttentionLowering(TaskLowering& lowering, const Operand& x, const Operand& weight)
      : task(lowering),
        shape(std::get<Attention>(task.site().task->descriptor)),
        columns{shape},
        weight_(task.factor(weight, Rounding::kOff)),
        model_columns_(x.columns) {}

  DeviceMatrix qkv_weight() const { return matrix(weight_.row(0), columns.qkv(), model_columns_); }
  DeviceMatrix projection() const {
    return matrix(weight_.row(columns.qkv()), columns.context(), model_columns_);
  }

  // The columns of a head in rows of `stride` columns.
  DeviceMatrix head_columns(const Elements& rows, int64_t count, int first, int stride) const {
    return {rows.from(first), count, shape.head_size, stride, false};
  }
  DeviceMatrix queries(const Sample& at, int head) const {
    const Elements own = at.qkv.from((at.keys - at.queries) * columns.qkv());
    return head_columns(own, at.queries, columns.query(head), columns.qkv());
  }
  DeviceMatrix keys(const Sample& at, int head) const {
    return head_columns(at.qkv, at.keys, columns.key(head), columns.qkv());
  }
  DeviceMatrix values(const Sample& at, int head) const {
    return head_columns(at.qkv, at.keys, columns.value(head), columns.qkv());
  }
  // A head's rows of scores.
  DeviceMatrix scores_of(const Sample& at, const Elements& scores, int head) const {
    return matrix(scores.from(head * at.queries * at.keys), at.queries, at.keys);
  }
  // From a batch's head to its next one.
  int64_t query_step(const HeadBatch& batch) const { return int64_t{batch.step} * shape.head_size; }
  int64_t key_step() const { return shape.head_size; }
  int64_t score_step(const Sample& at, const HeadBatch& batch) const {
    return batch.step * at.queries * at.keys;
  }

  int64_t num_scores(const Sample& at) const { return shape.heads * at.queries * at.keys; }
  int64_t score_rows(const Sample& at) const { return shape.heads * at.queries; }
  ScoreRows rows_of_scores(const Sample& at) const {
    return {static_cast<int>(at.queries),
            static_cast<int>(at.keys),
            static_cast<int>(at.keys - at.queries) + 1,
            shape.causal,
            score_scale(shape)};
  }

  // left * right for a batch of heads; `steps` of left, right and target.
  struct Steps {
    int64_t left = 0;
    int64_t right = 0;
    int64_t target = 0;
  };
  static Product batched(Product product, const HeadBatch& batch, const Steps& steps) {
    product.batch = batch.count;
    product.left_step = steps.left;
    product.right_step = steps.right;
    product.target_step = steps.target;
    return product;
  }

  // Makes scores of all heads, which become probabilities.
  void probabilities(const Sample& at, float* scores, Rounding rounding, const Elements& to) const;

  // Memory for the factors that values of scratch memory become: theirs where the type allows.
  Elements factors_for(const float* values, int64_t count) const {
    return task.factor_type() == ElementType::kFloat32
               ? floats(values)
               : task.space().scratch(task.factor_type(), count);
  }

  TaskLowering& task;
  const Attention& shape;
  AttentionColumns columns;

 private:
  FactorRows weight_;
  int64_t model_columns_;
};

// The rows of a sample of an operand, rounded, as a factor.
Elements sample_factor(TaskLowering& task, const Operand& operand, size_t sample);

}  // namespace moesim
