#include <utility>

#include "sim/schedule/parm_flow.h"
#include "sim/schedule/task_kinds.h"

namespace moesim {

// Gate, order, experts and unorder in Parm's flows, forward and backward.

void ParmFlow::add_compute_task(std::string_view kind, const Place& place, Task task) {
  program_.add_task(kind, streams_.compute, place, std::move(task));
}

void ParmFlow::gate(Layer& layer, const Place& place, const Region& tokens, int ranks_per_domain) {
  const int blocks = static_cast<int>(layer.shape.experts.size());
  const int rows = static_cast<int>(tokens.num_list_rows());
  RoutedDomain& domain = layer.domain;
  domain.input = tokens;
  domain.probs = program_.add_tensor(name(place, "probs"), 1, rows, program_.model().experts);
  domain.index = program_.add_index_tensor(name(place, "index"), blocks, layer.shape.rows);
  domain.weight = program_.add_tensor(name(place, "weight"), blocks, layer.shape.rows, 1);
  domain.gate = make_gate(program_,
                          {rows / layer.shape.domains, ranks_per_domain},
                          layer.shape.experts,
                          layer.shape.domains);
  add_compute_task(task_kind::kGate, place, gate_task(program_, domain, place.layer));
}

int ParmFlow::order(Layer& layer, const Place& place) {
  const int blocks = static_cast<int>(layer.shape.experts.size());
  const int buffer = program_.add_tensor(
      name(place, "buffer"), blocks, layer.shape.rows, program_.model().embedding);
  add_compute_task(
      task_kind::kOrder, place, order_task(program_, layer.domain, program_.all(buffer)));
  return buffer;
}

void ParmFlow::begin_hidden(Layer& layer, const Place& place) {
  const Tensor shape = program_.tensor(layer.expert_input);
  layer.hidden = program_.add_tensor(
      name(place, "hidden"), shape.blocks, shape.rows, program_.sizes().hidden_columns);
}

int ParmFlow::experts(Layer& layer, const Place& place, int from) {
  layer.expert_input = from;
  const int produced = add_like(place, "produced", from, program_.tensor(from).blocks);
  begin_hidden(layer, place);
  add_compute_task(task_kind::kExpert,
                   place,
                   expert_task(program_,
                               place.layer,
                               program_.all(from),
                               {program_.all(produced), program_.all(layer.hidden)}));
  return produced;
}

void ParmFlow::recompute_hidden(Layer& layer, int index) {
  const Place place{Pass::kRecompute, index};
  begin_hidden(layer, place);
  const Region input = program_.all(layer.expert_input);
  add_compute_task(
      task_kind::kExpert, place, expert_task(program_, index, input, {program_.all(layer.hidden)}));
}

int ParmFlow::experts_backward(Layer& layer, const Place& place, int d_produced) {
  const int d_input =
      add_like(place, "expert_input", d_produced, program_.tensor(d_produced).blocks);
  const ExpertActivations kept{program_.all(layer.expert_input), program_.all(layer.hidden)};
  add_compute_task(
      task_kind::kExpert,
      place,
      expert_backward_task(
          program_, place.layer, kept, program_.all(d_produced), program_.all(d_input)));
  return d_input;
}

void ParmFlow::unorder(const Layer& layer, const Place& place, const Region& to) {
  const Region combined = program_.all(layer.combined);
  add_compute_task(task_kind::kUnorder, place, unorder_task(program_, layer.domain, combined, to));
}

int ParmFlow::unorder_backward(Layer& layer, const Place& place, const Region& d_result) {
  const int blocks = static_cast<int>(layer.shape.experts.size());
  const int d_combined = add_like(place, "combined", layer.combined, blocks);
  layer.domain.d_weight = program_.add_tensor(name(place, "weight"), blocks, layer.shape.rows, 1);
  add_compute_task(task_kind::kUnorder,
                   place,
                   unorder_backward_task(program_,
                                         layer.domain,
                                         program_.all(layer.combined),
                                         d_result,
                                         program_.all(d_combined)));
  return d_combined;
}

void ParmFlow::order_backward(const Layer& layer,
                              const Place& place,
                              int d_buffer,
                              const Region& d_tokens) {
  const Region buffer = program_.all(d_buffer);
  add_compute_task(
      task_kind::kOrder, place, order_backward_task(program_, layer.domain, buffer, d_tokens));
}

void ParmFlow::gate_backward(const Layer& layer,
                             const Place& place,
                             const Region& d_tokens,
                             bool add) {
  add_compute_task(task_kind::kGate,
                   place,
                   gate_backward_task(program_, layer.domain, place.layer, d_tokens, add));
}

}  // namespace moesim
