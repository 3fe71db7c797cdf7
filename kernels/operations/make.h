#pragma once

#include <memory>

#include "kernels/operation.h"
#include "kernels/operations/operand.h"

namespace moesim {

// One file for each kind of task; operation.cpp chooses.
std::unique_ptr<Operation> make_gate_forward(const TaskSite& site);
std::unique_ptr<Operation> make_gate_backward(const TaskSite& site);
std::unique_ptr<Operation> make_order(const TaskSite& site);
std::unique_ptr<Operation> make_unorder(const TaskSite& site);
std::unique_ptr<Operation> make_expert_forward(const TaskSite& site);
std::unique_ptr<Operation> make_expert_backward(const TaskSite& site);
std::unique_ptr<Operation> make_attention_forward(const TaskSite& site);
std::unique_ptr<Operation> make_attention_backward(const TaskSite& site);
std::unique_ptr<Operation> make_local_moves(const TaskSite& site);
std::unique_ptr<Operation> make_elementwise(const TaskSite& site);
std::unique_ptr<Operation> make_optimizer(const TaskSite& site);

}  // namespace moesim
