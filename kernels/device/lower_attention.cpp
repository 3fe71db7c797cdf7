// Attention forward: fused where a kernel does it, for all samples at once; else products and a
// softmax over rows of scores, sample by sample. Heads of a sample are then batches of products:
// those that share keys and values follow each other, in their order.
#include "kernels/device/fused_lowering.h"
#include "kernels/device/lower_kinds.h"

namespace moesim {
namespace {

class ForwardLowering {
 public:
  explicit ForwardLowering(TaskLowering& task)
      : task_(task),
        continues_(task.site().task->reads.size() > 2),
        x_(read_operand(task.site(), 0, "x")),
        qkv_(write_operand(task.site(), 0, "qkv")),
        context_(write_operand(task.site(), 1, "context")),
        attention_(task, x_, read_operand(task.site(), continues_ ? 2 : 1, "w")) {
    before_.spans.resize(x_.spans.size());
    if (continues_) {
      before_ = read_operand(task.site(), 1, "qkv before the chunk");
    }
  }

  void lower() {
    if (const std::optional<FusedAttention> fused = fuse()) {
      for_each_sample([&](size_t i) { make_qkv(i); });
      task_.attend(*fused);
      for_each_sample([&](size_t i) { project(i); });
      return;
    }
    const int64_t mark = task_.space().scratch_mark();
    for_each_sample([&](size_t i) {
      task_.space().rewind_scratch(mark);
      make_qkv(i);
      attend(i);
      project(i);
    });
  }

 private:
  ElementRun block_run(const Operand& operand, size_t i) const {
    if (operand.tensor == kNone) {
      return {};
    }
    const RowRun rows = operand.block(i);
    return {task_.at(operand, rows.first), rows.count * operand.columns};
  }

  template <typename Body>
  void for_each_sample(const Body& body) const {
    for (size_t i = 0; i < x_.spans.size(); ++i) {
      body(i);
    }
  }

  std::optional<FusedAttention> fuse() const {
    if (!may_fuse(task_)) {
      return std::nullopt;
    }
    std::vector<std::vector<ElementRun>> qkv_runs;
    std::vector<std::vector<ElementRun>> context_runs;
    for_each_sample([&](size_t i) {
      qkv_runs.push_back({block_run(before_, i), block_run(qkv_, i)});
      context_runs.push_back({block_run(context_, i)});
    });
    const std::optional<EvenSamples> qkv = even_samples(qkv_runs);
    const std::optional<EvenSamples> context = even_samples(context_runs);
    if (!qkv || !context) {
      return std::nullopt;
    }
    FusedAttention fused =
        fused_heads(attention_, *qkv, *context, static_cast<int64_t>(x_.spans.size()));
    LoweringSpace& space = task_.space();
    const std::optional<int64_t> workspace = space.attention()->workspace_bytes(fused);
    if (!workspace) {
      return std::nullopt;
    }
    fused.statistics = space.scratch(ElementType::kFloat32, fused.extent.num_statistics()).address;
    fused.workspace = space.scratch(*workspace);
    return fused;
  }

  void make_qkv(size_t i) {
    const RowRun rows = x_.block(i);
    task_.multiply({{.left = matrix(sample_factor(task_, x_, i), rows.count, x_.columns),
                     .right = attention_.qkv_weight().transposed(),
                     .target = task_.at(qkv_, qkv_.block(i).first),
                     .target_stride = qkv_.columns}});
  }

  void attend(size_t i) {
    const Sample at{
        task_.packed(
            {block_run(before_, i), block_run(qkv_, i)}, task_.rounding(), task_.factor_type()),
        qkv_.block(i).count,
        before_.block(i).count + qkv_.block(i).count};
    float* scores = task_.scratch<float>(attention_.num_scores(at));
    const Elements factors = attention_.factors_for(scores, attention_.num_scores(at));
    attention_.probabilities(at, scores, task_.rounding(), factors);
    const Elements context = task_.at(context_, context_.block(i).first);
    std::vector<Product> products;
    for (const HeadBatch& batch : head_batches(attention_.shape)) {
      products.push_back(AttentionLowering::batched(
          {.left = attention_.scores_of(at, factors, batch.first),
           .right = attention_.values(at, batch.first),
           .target = context.from(attention_.columns.query(batch.first)),
           .target_stride = context_.columns},
          batch,
          {attention_.score_step(at, batch), attention_.key_step(), attention_.query_step(batch)}));
    }
    task_.multiply(products);
  }

  void project(size_t i) {
    if (task_.site().task->writes.size() <= 2) {
      return;
    }
    const Operand y = write_operand(task_.site(), 2, "y");
    task_.multiply(
        {{.left =
              matrix(sample_factor(task_, context_, i), context_.block(i).count, context_.columns),
          .right = attention_.projection(),
          .target = task_.at(y, y.block(i).first),
          .target_stride = y.columns}});
  }

  TaskLowering& task_;
  bool continues_;
  Operand x_;
  Operand before_;
  Operand qkv_;
  Operand context_;
  AttentionLowering attention_;
};

}  // namespace

void lower_attention_forward(TaskLowering& task) {
  ForwardLowering(task).lower();
}

}  // namespace moesim
