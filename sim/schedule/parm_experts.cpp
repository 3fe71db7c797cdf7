#include <utility>

#include "sim/schedule/parm_flow.h"

namespace moesim {

// Expert shards, unorder and the backward of gate and order in Parm's flows.

Task ParmFlow::expert_task(const Layer& layer) const {
  const int blocks = program_.tensor(layer.expert_input).blocks;
  std::vector<int> local_experts;
  for (int block = 0; block < blocks; ++block) {
    local_experts.push_back(block % program_.sizes().local_experts);
  }
  Task task;
  task.descriptor =
      Expert{std::move(local_experts), program_.model().feed_forward == FeedForward::kSwiglu};
  return task;
}

int ParmFlow::experts(Layer& layer, const Place& place, int from) {
  layer.expert_input = from;
  const Tensor shape = program_.tensor(from);
  const int produced = add_like(place, "produced", from, shape.blocks);
  layer.hidden = program_.add_tensor(
      name(place, "hidden"), shape.blocks, shape.rows, program_.sizes().hidden_columns);
  Task task = expert_task(layer);
  task.reads = program_.expert_matrices(program_.expert().weight, place.layer);
  task.reads.insert(task.reads.begin(), program_.all(from));
  task.writes = {program_.all(produced), program_.all(layer.hidden)};
  program_.add_task("expert", streams_.compute, place, std::move(task));
  return produced;
}

void ParmFlow::recompute_hidden(Layer& layer, int index) {
  const Place place{Pass::kRecompute, index};
  const Tensor shape = program_.tensor(layer.expert_input);
  layer.hidden = program_.add_tensor(
      name(place, "hidden"), shape.blocks, shape.rows, program_.sizes().hidden_columns);
  Task task = expert_task(layer);
  task.reads = program_.expert_matrices(program_.expert().weight, index);
  task.reads.insert(task.reads.begin(), program_.all(layer.expert_input));
  task.writes = {program_.all(layer.hidden)};
  program_.add_task("expert", streams_.compute, place, std::move(task));
}

int ParmFlow::experts_backward(Layer& layer, const Place& place, int d_produced) {
  const int d_input =
      add_like(place, "expert_input", d_produced, program_.tensor(d_produced).blocks);
  Task task = expert_task(layer);
  task.reads = program_.expert_matrices(program_.expert().weight, place.layer);
  task.reads.insert(
      task.reads.begin(),
      {program_.all(d_produced), program_.all(layer.expert_input), program_.all(layer.hidden)});
  task.writes = {program_.all(d_input)};
  for (const Region& matrix : program_.expert_matrices(program_.expert().gradient, place.layer)) {
    program_.accumulate(task, matrix);
  }
  program_.add_task("expert", streams_.compute, place, std::move(task));
  return d_input;
}

void ParmFlow::unorder(const Layer& layer, const Place& place, const Region& to) {
  Task task;
  task.descriptor = Unorder{layer.shape.experts};
  task.reads = {
      program_.all(layer.combined), program_.all(layer.index), program_.all(layer.weight)};
  task.writes = {to};
  program_.add_task("unorder", streams_.compute, place, std::move(task));
}

int ParmFlow::unorder_backward(Layer& layer, const Place& place, const Region& d_result) {
  const int blocks = static_cast<int>(layer.shape.experts.size());
  const int d_combined = add_like(place, "combined", layer.combined, blocks);
  layer.d_weight = program_.add_tensor(name(place, "weight"), blocks, layer.shape.rows, 1);
  Task task;
  task.descriptor = Unorder{layer.shape.experts};
  task.reads = {d_result,
                program_.all(layer.combined),
                program_.all(layer.index),
                program_.all(layer.weight)};
  task.writes = {program_.all(d_combined), program_.all(layer.d_weight)};
  program_.add_task("unorder", streams_.compute, place, std::move(task));
  return d_combined;
}

void ParmFlow::order_backward(const Layer& layer,
                              const Place& place,
                              int d_buffer,
                              const Region& d_tokens) {
  Task task;
  task.descriptor = Order{layer.shape.experts};
  task.reads = {program_.all(d_buffer), program_.all(layer.index)};
  task.writes = {d_tokens};
  program_.add_task("order", streams_.compute, place, std::move(task));
}

void ParmFlow::gate_backward(const Layer& layer,
                             const Place& place,
                             const Region& d_tokens,
                             bool add) {
  Task task;
  task.descriptor = layer.gate;
  task.reads = {program_.all(layer.d_weight),
                program_.all(layer.probs),
                program_.all(layer.index),
                layer.gate_input,
                program_.gate_rows(program_.gate().weight, place.layer)};
  if (add) {
    task.reads.push_back(d_tokens);
  }
  task.writes = {d_tokens};
  program_.accumulate(task, program_.gate_rows(program_.gate().gradient, place.layer));
  program_.add_task("gate", streams_.compute, place, std::move(task));
}

}  // namespace moesim
