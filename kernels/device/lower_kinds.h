#pragma once

#include "kernels/device/task_lowering.h"

namespace moesim {

// One file for each kind of task; lower_task.cpp chooses. They trust make_operation to have checked
// the operands.
void lower_gate_forward(TaskLowering& task);
void lower_gate_backward(TaskLowering& task);
void lower_order(TaskLowering& task);
void lower_unorder(TaskLowering& task);
void lower_expert_forward(TaskLowering& task);
void lower_expert_backward(TaskLowering& task);
void lower_attention_forward(TaskLowering& task);
void lower_attention_backward(TaskLowering& task);
void lower_elementwise(TaskLowering& task);
void lower_optimizer(TaskLowering& task);

}  // namespace moesim
