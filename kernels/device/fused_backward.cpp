#include "kernels/device/fused_backward.h"

#include <algorithm>

namespace moesim {
namespace {

std::vector<std::vector<ElementRun>> runs_of(const TaskLowering& task, const Operand& operand) {
  std::vector<std::vector<ElementRun>> samples;
  for (size_t i = 0; i < operand.spans.size(); ++i) {
    const RowRun rows = operand.block(i);
    samples.push_back({{task.at(operand, rows.first), rows.count * operand.columns}});
  }
  return samples;
}

constexpr Elements kNowhere{0, ElementType::kBfloat16};

}  // namespace

std::optional<FusedBackward> FusedBackward::make(TaskLowering& task,
                                                 const AttentionLowering& attention,
                                                 const Operands& operands) {
  if (!may_fuse(task)) {
    return std::nullopt;
  }
  const std::optional<EvenSamples> qkv = even_samples(runs_of(task, operands.qkv));
  const std::optional<EvenSamples> context = even_samples(runs_of(task, operands.context));
  if (!qkv || !context) {
    return std::nullopt;
  }
  FusedBackward backward(task, operands.d_qkv);
  backward.kernel_.forward =
      fused_heads(attention, *qkv, *context, static_cast<int64_t>(operands.qkv.spans.size()));
  return backward.plan(attention.columns) ? std::optional(backward) : std::nullopt;
}

// The context goes where its gradient will stand.
FusedAttention FusedBackward::statistics_pass() const {
  FusedAttention again = kernel_.forward;
  again.context = kernel_.d_context;
  return again;
}

// Asks for kernels before it takes memory for what they need. Gradients go where they belong if
// nothing stands there that they are added to.
bool FusedBackward::plan(const AttentionColumns& columns) {
  LoweringSpace& space = task_->space();
  const int64_t context = extent().queries * columns.context();
  const int64_t qkv = extent().keys * columns.qkv();
  kernel_.d_context = {kNowhere, columns.context(), context};
  gradients_ = {kNowhere, qkv, qkv};
  if (!d_qkv_.is_continued) {
    if (const std::optional<EvenSamples> own = even_samples(runs_of(*task_, d_qkv_))) {
      gradients_ = *own;
      is_in_place_ = true;
    }
  }
  set_gradients(kernel_, columns, gradients_);
  const std::optional<int64_t> again = space.attention()->workspace_bytes(statistics_pass());
  const std::optional<int64_t> backward = space.attention()->workspace_bytes(kernel_);
  if (!again || !backward) {
    return false;
  }
  kernel_.d_context.first = space.scratch(ElementType::kBfloat16, extent().samples * context);
  if (!is_in_place_) {
    gradients_.first = space.scratch(ElementType::kBfloat16, extent().samples * qkv);
    set_gradients(kernel_, columns, gradients_);
  }
  kernel_.forward.statistics =
      space.scratch(ElementType::kFloat32, extent().num_statistics()).address;
  kernel_.forward.workspace = space.scratch(std::max(*again, *backward));
  return true;
}

void FusedBackward::make_gradients() const {
  clear_other_queries();
  task_->attend(kernel_);
  if (!is_in_place_) {
    add_gradients();
  }
}

// Keys before the chunk have queries of their own, which are not this task's.
void FusedBackward::clear_other_queries() const {
  if (extent().keys == extent().queries) {
    return;
  }
  for (int64_t sample = 0; sample < extent().samples; ++sample) {
    const Elements first = gradients_.first.from(sample * gradients_.step);
    task_->fill({first.address, gradients_.count * size_of(first.type), 0});
  }
}

void FusedBackward::add_gradients() const {
  task_->begin_sum(d_qkv_);
  PieceList pieces;
  for (size_t i = 0; i < d_qkv_.spans.size(); ++i) {
    const RowRun rows = d_qkv_.block(i);
    const ElementRun to{task_->at(d_qkv_, rows.first), rows.count * d_qkv_.columns};
    pieces.add(to, {to.at, gradients_.first.from(static_cast<int64_t>(i) * gradients_.step)});
  }
  task_->combine(pieces, Combination::kSum, Rounding::kOff);
}

}  // namespace moesim
