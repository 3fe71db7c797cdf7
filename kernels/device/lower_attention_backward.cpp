// Attention backward: fused where kernels do it, for all samples at once; else by products, sample
// by sample. Programs keep neither scores nor their statistics: both are computed again.
#include "kernels/device/fused_backward.h"
#include "kernels/device/lower_kinds.h"

namespace moesim {
namespace {

constexpr size_t kNumReads = 5;

// With S = Q K^T / sqrt(d), P = softmax(S), C = P V: dV = P^T dC, dP = dC V^T, dS from dP,
// dQ = dS K, dK = dS^T Q.
class BackwardLowering {
 public:
  explicit BackwardLowering(TaskLowering& task)
      : task_(task),
        dy_(read_operand(task.site(), 0, "dy")),
        x_(read_operand(task.site(), 1, "x")),
        qkv_(read_operand(task.site(), 2, "qkv")),
        context_(read_operand(task.site(), 3, "context")),
        d_qkv_(sum_operand(task.site(), 0, "d_qkv", kNumReads)),
        dx_(write_operand(task.site(), 1, "dx")),
        d_weight_(sum_operand(task.site(), 2, "dw", kNumReads)),
        attention_(task, x_, read_operand(task.site(), 4, "w")) {}

  void lower() {
    task_.begin_sum(d_weight_);
    if (const auto fused = FusedBackward::make(task_, attention_, {qkv_, context_, d_qkv_})) {
      lower_fused(*fused);
      return;
    }
    task_.begin_sum(d_qkv_);
    const int64_t mark = task_.space().scratch_mark();
    for (size_t i = 0; i < x_.spans.size(); ++i) {
      task_.space().rewind_scratch(mark);
      const Sample at{sample_factor(task_, qkv_, i), x_.block(i).count, qkv_.block(i).count};
      const Elements d_context = task_.space().scratch(task_.factor_type(), d_context_count(i));
      backward_projection(i, d_context);
      backward_heads(
          i, at, task_.packed({{d_context, d_context_count(i)}}, rounding(), task_.factor_type()));
      backward_input(i, at);
    }
  }

 private:
  int qkv_columns() const { return attention_.columns.qkv(); }
  int context_columns() const { return attention_.columns.context(); }
  Elements d_weight_rows(int64_t first) const {
    return task_.at(d_weight_, d_weight_.spans.front().first + first);
  }

  Rounding rounding() const { return task_.rounding(); }
  int64_t d_context_count(size_t i) const { return x_.block(i).count * context_columns(); }

  void lower_fused(const FusedBackward& fused) {
    fused.make_statistics();
    for (size_t i = 0; i < x_.spans.size(); ++i) {
      backward_projection(i, fused.d_context(i));
    }
    fused.make_gradients();
    for (size_t i = 0; i < x_.spans.size(); ++i) {
      backward_input(i, {{}, fused.extent().queries, fused.extent().keys});
    }
  }

  // Of the context, not rounded yet.
  void backward_projection(size_t i, const Elements& d_context) {
    const int64_t queries = x_.block(i).count;
    const DeviceMatrix dy = matrix(sample_factor(task_, dy_, i), queries, dy_.columns);
    const DeviceMatrix context =
        matrix(sample_factor(task_, context_, i), queries, context_columns());
    task_.multiply({{.left = context.transposed(),
                     .right = dy,
                     .target = d_weight_rows(qkv_columns()),
                     .target_stride = d_weight_.columns,
                     .add = true},
                    {.left = dy,
                     .right = attention_.projection().transposed(),
                     .target = d_context,
                     .target_stride = context_columns()}});
  }

  void backward_heads(size_t i, const Sample& at, const Elements& d_context) {
    const int64_t count = attention_.num_scores(at);
    float* p = task_.scratch<float>(count);
    attention_.probabilities(at, p, Rounding::kOff, floats(p));
    float* d_scores = task_.scratch<float>(count);
    std::vector<Product> products;
    for (const HeadBatch& batch : head_batches(attention_.shape)) {
      products.push_back(AttentionLowering::batched(
          {.left = d_context_of(at, d_context, batch.first),
           .right = attention_.values(at, batch.first).transposed(),
           .target = attention_.scores_of(at, floats(d_scores), batch.first).at,
           .target_stride = at.keys},
          batch,
          {attention_.query_step(batch), attention_.key_step(), attention_.score_step(at, batch)}));
    }
    task_.multiply(products);
    const Elements p_factors = attention_.factors_for(p, count);
    const Elements d_factors = attention_.factors_for(d_scores, count);
    task_.kernel(
        SoftmaxBackwardRows{
            attention_.rows_of_scores(at), task_.rounding(), p, d_scores, p_factors, d_factors},
        attention_.score_rows(at));
    add_head_gradients(i, at, d_context, p_factors, d_factors);
  }

  DeviceMatrix d_context_of(const Sample& at, const Elements& d_context, int head) const {
    return attention_.head_columns(
        d_context, at.queries, attention_.columns.query(head), context_columns());
  }

  void add_head_gradients(size_t i,
                          const Sample& at,
                          const Elements& d_context,
                          const Elements& p,
                          const Elements& ds) {
    const AttentionColumns& columns = attention_.columns;
    const Elements d_qkv = task_.at(d_qkv_, d_qkv_.block(i).first);
    const Elements d_own = d_qkv.from((at.keys - at.queries) * qkv_columns());
    const auto add = [&](const DeviceMatrix& left, const DeviceMatrix& right, const Elements& to) {
      return Product{left, right, to, qkv_columns(), true};
    };
    std::vector<Product> products;
    for (const HeadBatch& batch : head_batches(attention_.shape)) {
      const int head = batch.first;
      const int64_t query = attention_.query_step(batch);
      const int64_t key = attention_.key_step();
      const int64_t score = attention_.score_step(at, batch);
      const DeviceMatrix ds_of = attention_.scores_of(at, ds, head);
      products.push_back(AttentionLowering::batched(
          add(ds_of, attention_.keys(at, head), d_own.from(columns.query(head))),
          batch,
          {score, key, query}));
      products.push_back(AttentionLowering::batched(
          add(ds_of.transposed(), attention_.queries(at, head), d_qkv.from(columns.key(head))),
          batch,
          {score, query, key}));
      products.push_back(
          AttentionLowering::batched(add(attention_.scores_of(at, p, head).transposed(),
                                         d_context_of(at, d_context, head),
                                         d_qkv.from(columns.value(head))),
                                     batch,
                                     {score, query, key}));
    }
    task_.multiply(products);
  }

  void backward_input(size_t i, const Sample& at) {
    const Elements d_own =
        task_.at(d_qkv_, d_qkv_.block(i).first).from((at.keys - at.queries) * qkv_columns());
    const DeviceMatrix d = matrix(
        task_.packed({{d_own, at.queries * qkv_columns()}}, task_.rounding(), task_.factor_type()),
        at.queries,
        qkv_columns());
    task_.multiply({{.left = d,
                     .right = attention_.qkv_weight(),
                     .target = task_.at(dx_, dx_.block(i).first),
                     .target_stride = dx_.columns},
                    {.left = d.transposed(),
                     .right = matrix(sample_factor(task_, x_, i), at.queries, x_.columns),
                     .target = d_weight_rows(0),
                     .target_stride = d_weight_.columns,
                     .add = true}});
  }

  TaskLowering& task_;
  Operand dy_;
  Operand x_;
  Operand qkv_;
  Operand context_;
  Operand d_qkv_;
  Operand dx_;
  Operand d_weight_;
  AttentionLowering attention_;
};

}  // namespace

void lower_attention_backward(TaskLowering& task) {
  BackwardLowering(task).lower();
}

}  // namespace moesim
