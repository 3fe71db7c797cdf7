// Shapes of gate, order, unorder, expert and attention.
#include <array>
#include <set>
#include <variant>

#include <fmt/format.h>

#include "sim/program/operands.h"

namespace moesim {
namespace {

// x, w_gate -> probs, index, weight. X-MoE has weights of its own (work.cpp).
void check_gate_forward(const Gate& gate, Operands& operands) {
  if (!operands.take(2, 3)) {
    return;
  }
  const Operand x = operands.read(0, "x");
  const Operand probs = operands.write(0, "probs");
  const Operand index = operands.write(1, "index");
  operands.same_rows(x, probs);
  operands.is_index(index);
  operands.same_chunk(index, operands.write(2, "weight"));
  operands.columns(operands.write(2, "weight"), 1);
  operands.experts(gate.experts, index);
  if (gate.gate != GateKind::kXmoe) {
    operands.elements(operands.read(1, "w_gate"), int64_t{x.columns()} * probs.columns());
  }
}

// d_weight, probs, index, x, w_gate -> dx, dw_gate.
void check_gate_backward(const Gate& gate, Operands& operands) {
  if (!operands.take(5, 2)) {
    return;
  }
  const Operand d_weight = operands.read(0, "d_weight");
  const Operand index = operands.read(2, "index");
  const Operand x = operands.read(3, "x");
  const Operand dx = operands.write(0, "dx");
  operands.is_index(index);
  operands.same_chunk(d_weight, index);
  operands.columns(d_weight, 1);
  operands.experts(gate.experts, index);
  operands.same_rows(x, operands.read(1, "probs"));
  operands.same_rows(x, dx);
  operands.same_columns(x, dx);
  operands.elements(operands.write(1, "dw_gate"), operands.read(4, "w_gate").elements());
}

// x, index -> buffer; backward d_buffer, index -> dx.
void check_order(const Order& order, Pass pass, Operands& operands) {
  if (!operands.take(2, 1)) {
    return;
  }
  const bool backward = pass == Pass::kBackward;
  const Operand rows = backward ? operands.write(0, "dx") : operands.read(0, "x");
  const Operand buffer = backward ? operands.read(0, "d_buffer") : operands.write(0, "buffer");
  const Operand index = operands.read(1, "index");
  operands.is_index(index);
  operands.same_chunk(index, buffer);
  operands.same_columns(rows, buffer);
  operands.experts(order.experts, buffer);
}

// buffer, index, weight -> y; backward dy, buffer, index, weight -> d_buffer, d_weight.
void check_unorder(const Unorder& unorder, Pass pass, Operands& operands) {
  const bool backward = pass == Pass::kBackward;
  if (!operands.take(backward ? 4 : 3, backward ? 2 : 1)) {
    return;
  }
  const int first = backward ? 1 : 0;
  const Operand buffer = operands.read(first, "buffer");
  const Operand index = operands.read(first + 1, "index");
  const Operand weight = operands.read(first + 2, "weight");
  operands.is_index(index);
  operands.same_chunk(index, buffer);
  operands.same_chunk(index, weight);
  operands.columns(weight, 1);
  operands.experts(unorder.experts, buffer);
  operands.same_columns(buffer, backward ? operands.read(0, "dy") : operands.write(0, "y"));
  if (backward) {
    const Operand d_buffer = operands.write(0, "d_buffer");
    operands.same_chunk(buffer, d_buffer);
    operands.same_columns(buffer, d_buffer);
    operands.same_chunk(weight, operands.write(1, "d_weight"));
    operands.columns(operands.write(1, "d_weight"), 1);
  }
}

constexpr auto kWeightNames = std::to_array<const char*>({"w1", "w2", "w3"});
constexpr auto kGradientNames = std::to_array<const char*>({"dw1", "dw2", "dw3"});

// Each weight holds M x H/N_ESP elements for every expert of the rank. `hidden` keeps both halves
// of SwiGLU.
void check_expert_weights(const Expert& expert,
                          int64_t hidden_columns,
                          int64_t embedding,
                          int first,
                          Operands& operands) {
  const std::set<int> distinct(expert.experts.begin(), expert.experts.end());
  const int num_weights = expert.swiglu ? 3 : 2;
  const int64_t width = expert.swiglu ? hidden_columns / 2 : hidden_columns;
  if (expert.swiglu && hidden_columns % 2 != 0) {
    operands.fail("hidden must have the columns of both halves of SwiGLU");
  }
  for (int i = 0; i < num_weights; ++i) {
    operands.elements(operands.read(first + i, kWeightNames[i]),
                      static_cast<int64_t>(distinct.size()) * embedding * width);
  }
}

// x, w1, w2[, w3] -> y, hidden; recomputed: hidden alone will do.
void check_expert_forward(const Expert& expert, const Task& task, Operands& operands) {
  const bool hidden_only = task.pass == Pass::kRecompute && task.writes.size() == 1;
  if (!operands.take(expert.swiglu ? 4 : 3, hidden_only ? 1 : 2)) {
    return;
  }
  const Operand x = operands.read(0, "x");
  const Operand hidden = operands.write(hidden_only ? 0 : 1, "hidden");
  operands.same_chunk(x, hidden);
  if (!hidden_only) {
    operands.same_chunk(x, operands.write(0, "y"));
    operands.same_columns(x, operands.write(0, "y"));
  }
  operands.experts(expert.experts, x);
  check_expert_weights(expert, hidden.columns(), x.columns(), 1, operands);
}

// dy, x, hidden, w1, w2[, w3] -> dx, dw1, dw2[, dw3].
void check_expert_backward(const Expert& expert, Operands& operands) {
  const int num_weights = expert.swiglu ? 3 : 2;
  if (!operands.take(3 + num_weights, 1 + num_weights)) {
    return;
  }
  const Operand x = operands.read(1, "x");
  const Operand hidden = operands.read(2, "hidden");
  for (const Operand& other : {operands.read(0, "dy"), operands.write(0, "dx")}) {
    operands.same_chunk(x, other);
    operands.same_columns(x, other);
  }
  operands.same_chunk(x, hidden);
  operands.experts(expert.experts, x);
  check_expert_weights(expert, hidden.columns(), x.columns(), 3, operands);
  for (int i = 0; i < num_weights; ++i) {
    operands.elements(operands.write(1 + i, kGradientNames[i]),
                      operands.read(3 + i, kWeightNames[i]).elements());
  }
}

void check_heads(const Attention& attention,
                 const Operand& qkv,
                 const Operand& context,
                 Operands& operands) {
  operands.columns(qkv, (attention.heads + 2 * attention.kv_heads) * attention.head_size);
  operands.columns(context, attention.heads * attention.head_size);
}

void check_attention_weight(const Operand& x,
                            const Operand& weight,
                            const Operand& qkv,
                            const Operand& context,
                            Operands& operands) {
  operands.elements(weight, int64_t{x.columns()} * (qkv.columns() + context.columns()));
}

// x, [qkv before the chunk], w -> qkv, context, y; recomputed: without y.
void check_attention_forward(const Attention& attention, const Task& task, Operands& operands) {
  const bool no_output = task.pass == Pass::kRecompute && task.writes.size() == 2;
  const int num_writes = no_output ? 2 : 3;
  if (task.reads.empty() || task.writes.empty()) {
    operands.take(2, num_writes);
    return;
  }
  const Operand x = operands.read(0, "x");
  const bool continues = x.region->first_row > 0;
  if (!operands.take(continues ? 3 : 2, num_writes)) {
    return;
  }
  const Operand qkv = operands.write(0, "qkv");
  const Operand context = operands.write(1, "context");
  operands.same_chunk(x, qkv);
  operands.same_chunk(x, context);
  if (!no_output) {
    operands.same_chunk(x, operands.write(2, "y"));
    operands.same_columns(x, operands.write(2, "y"));
  }
  check_heads(attention, qkv, context, operands);
  check_attention_weight(x, operands.read(continues ? 2 : 1, "w"), qkv, context, operands);
  if (continues) {
    const Operand before = operands.read(1, "qkv before the chunk");
    if (before.region->tensor != qkv.region->tensor || before.region->first_row != 0 ||
        before.region->num_rows != x.region->first_row) {
      operands.fail(
          fmt::format("{} must be the rows of qkv before {}", shape_text(before), shape_text(x)));
    }
  }
  if (!attention.causal && x.region->num_rows != qkv.tensor->rows) {
    operands.fail(fmt::format("{} is a chunk, but attention that is not causal needs every key",
                              shape_text(x)));
  }
}

// dy, x, qkv up to the chunk's end, context, w -> d_qkv, dx, dw.
void check_attention_backward(const Attention& attention, Operands& operands) {
  if (!operands.take(5, 3)) {
    return;
  }
  const Operand x = operands.read(1, "x");
  const Operand qkv = operands.read(2, "qkv");
  const Operand context = operands.read(3, "context");
  const Operand weight = operands.read(4, "w");
  for (const Operand& other : {operands.read(0, "dy"), operands.write(1, "dx")}) {
    operands.same_chunk(x, other);
    operands.same_columns(x, other);
  }
  operands.same_chunk(x, context);
  operands.same_chunk(qkv, operands.write(0, "d_qkv"));
  operands.same_columns(qkv, operands.write(0, "d_qkv"));
  const int keys = attention.causal ? x.end_row() : qkv.tensor->rows;
  if (qkv.region->first_row != 0 || qkv.region->num_rows != keys) {
    operands.fail(fmt::format("{} must be the rows [0, {})", shape_text(qkv), keys));
  }
  check_heads(attention, qkv, context, operands);
  check_attention_weight(x, weight, qkv, context, operands);
  operands.elements(operands.write(2, "dw"), weight.elements());
}

struct ShapeCheck {
  const Program& program;
  const Task& task;
  Operands& operands;

  bool backward() const { return task.pass == Pass::kBackward; }

  void operator()(const Fixed&) const {}
  void operator()(const Collective&) const {}
  void operator()(const HostWait&) const {
    if (!task.writes.empty()) {
      operands.fail("a host_wait writes nothing");
    }
  }
  void operator()(const Gate& gate) const {
    backward() ? check_gate_backward(gate, operands) : check_gate_forward(gate, operands);
  }
  void operator()(const Order& order) const { check_order(order, task.pass, operands); }
  void operator()(const Unorder& unorder) const { check_unorder(unorder, task.pass, operands); }
  void operator()(const Expert& expert) const {
    backward() ? check_expert_backward(expert, operands)
               : check_expert_forward(expert, task, operands);
  }
  void operator()(const Attention& attention) const {
    backward() ? check_attention_backward(attention, operands)
               : check_attention_forward(attention, task, operands);
  }
  void operator()(const Slice& slice) const { check_slice(program, slice, task, operands); }
  void operator()(const Replicate& replicate) const {
    check_replicate(program, replicate, task, operands);
  }
  void operator()(const LocalSum& sum) const { check_local_sum(program, sum, task, operands); }
  void operator()(const Elementwise& elementwise) const {
    check_elementwise(elementwise, task, operands);
  }
  void operator()(const Optimizer&) const { check_optimizer(task, operands); }
};

// Others move rows of any type, or do what nobody says.
bool computes_values(const Task& task) {
  return computes(task.descriptor) && !std::holds_alternative<Slice>(task.descriptor) &&
         !std::holds_alternative<Replicate>(task.descriptor);
}

}  // namespace

std::optional<std::string> operand_fault(const Program& program, const Task& task) {
  if (std::holds_alternative<Collective>(task.descriptor)) {
    return collective_fault(program, task);
  }
  if (task.reads.empty() && task.writes.empty()) {
    return std::nullopt;
  }
  Operands operands(program, task);
  std::visit(ShapeCheck{program, task, operands}, task.descriptor);
  if (computes_values(task)) {
    operands.others_are_values();
  }
  return operands.fault();
}

}  // namespace moesim
