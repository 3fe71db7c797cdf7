#pragma once

#include <optional>

#include "kernels/device/fused_lowering.h"

namespace moesim {

// Attention backward by fused kernels, for all samples of a task at once. Programs do not keep the
// statistics of the forward pass, so that a forward kernel comes first and makes them again.
class FusedBackward {
 public:
  struct Operands {
    Operand qkv;
    Operand context;
    Operand d_qkv;
  };

  // Nothing where there are no kernels for it. Keeps a reference to the task.
  static std::optional<FusedBackward> make(TaskLowering& task,
                                           const AttentionLowering& attention,
                                           const Operands& operands);

  const AttentionExtent& extent() const { return kernel_.forward.extent; }

  void make_statistics() const { task_->attend(statistics_pass()); }
  // Where the gradient of a sample's context belongs, once there are statistics.
  Elements d_context(size_t sample) const {
    return kernel_.d_context.first.from(static_cast<int64_t>(sample) *
                                        kernel_.d_context.sample_step);
  }
  // Of qkv, from those of the context. Begins their sum, if nothing did.
  void make_gradients() const;

 private:
  FusedBackward(TaskLowering& task, const Operand& d_qkv) : task_(&task), d_qkv_(d_qkv) {}

  FusedAttention statistics_pass() const;
  bool plan(const AttentionColumns& columns);
  void clear_other_queries() const;
  void add_gradients() const;

  TaskLowering* task_;
  Operand d_qkv_;
  FusedAttentionBackward kernel_;
  EvenSamples gradients_;     // of qkv: where the kernel puts them
  bool is_in_place_ = false;  // which is where they belong
};

}  // namespace moesim
