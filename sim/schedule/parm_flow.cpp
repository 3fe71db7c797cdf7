#include "sim/schedule/parm_flow.h"

#include <utility>

#include "sim/schedule/task_kinds.h"

namespace moesim {

ParmFlow::ParmFlow(const RoutedScenario& scenario,
                   const std::string& schedule,
                   bool two_communicators,
                   GateReads gate_reads)
    : program_(scenario, schedule), gate_reads_(gate_reads) {
  streams_.compute = program_.stream("compute");
  streams_.inter = program_.stream(two_communicators ? "inter" : "communication");
  streams_.intra = two_communicators ? program_.stream("intra") : streams_.inter;
}

Program ParmFlow::build() && {
  issue_stages(program_, streams_.compute, *this);
  append_update(program_, streams_, gate_reads_);
  return std::move(program_).build();
}

ParmFlow::Layer ParmFlow::make_layer(const Place& place, int input) {
  Layer layer;
  layer.input = input;
  layer.attention = std::make_unique<AttentionBlock>(program_, streams_.compute, place, input);
  return layer;
}

int ParmFlow::forward(int input) {
  layers_.clear();
  for (int index = 0; index < program_.model().layers; ++index) {
    const Place place{Pass::kForward, index};
    Layer& layer = layers_.emplace_back(make_layer(place, input));
    forward_layer(layer, place);
    layer.output = program_.add_tokens(name(place, "output"));
    to_output(layer, place);
    input = layer.output;
  }
  kept_[program_.part()] = std::exchange(layers_, {});
  return input;
}

int ParmFlow::backward(int d_output) {
  layers_ = std::move(kept_.extract(program_.part()).mapped());
  for (int index = program_.model().layers - 1; index >= 0; --index) {
    backward_layer(index, d_output);
    d_output = layers_[static_cast<size_t>(index)].attention->input_gradient();
  }
  return d_output;
}

void ParmFlow::forward_layer(Layer& layer, const Place& place) {
  layer.attention->forward({0, program_.model().sequence}, kNone);
  const Region tokens = program_.all(layer.attention->output());
  reduce(task_kind::kMpAllReduce, place, program_.groups().mp, tokens);
  to_experts_and_back(layer, place, tokens);
}

void ParmFlow::backward_layer(int index, int d_output) {
  const ModelConfig& model = program_.model();
  Layer& layer = layers_[static_cast<size_t>(index)];
  const Place place{Pass::kBackward, index};
  if (model.recompute == Recompute::kFull) {
    const Place again{Pass::kRecompute, index};
    Layer recomputed = make_layer(again, layer.input);
    recomputed.output = layer.output;
    forward_layer(recomputed, again);
    layer = std::move(recomputed);
  } else if (model.recompute == Recompute::kSelective) {
    recompute_hidden(layer, index);
  }
  const int d_tokens = program_.add_tokens(name(place, "tokens"));
  backward_through(layer, place, d_output, d_tokens);
  if (model.recompute == Recompute::kSelective) {
    layer.attention->recompute({0, model.sequence}, kNone);
  }
  layer.attention->backward(d_tokens, {0, model.sequence}, kNone);
  if (program_.is_last_micro_batch()) {
    reduce(task_kind::kGradientAllReduce,
           place,
           program_.groups().dp,
           program_.dense_rows(program_.dense().gradient, index));
  }
}

std::string ParmFlow::name(const Place& place, const std::string& tensor) const {
  constexpr const char* kPrefixes[] = {"", "recompute.", "d_", ""};
  return program_.layer_prefix(place.layer) + kPrefixes[static_cast<size_t>(place.pass)] + tensor;
}

int ParmFlow::add_like(const Place& place, const std::string& tensor, int like, int blocks) {
  const Tensor shape = program_.tensor(like);
  return program_.add_tensor(name(place, tensor), blocks, shape.rows, shape.columns);
}

int ParmFlow::replicate(const Place& place, const std::string& tensor, int from) {
  if (esp() == 1) {
    return from;
  }
  const int to = add_like(place, tensor, from, program_.tensor(from).blocks * esp());
  const Replicate copies{program_.groups().ep, esp()};
  add_compute_task(
      task_kind::kReplicate, place, move_task(copies, program_.all(from), program_.all(to)));
  return to;
}

int ParmFlow::local_sum(const Place& place, const std::string& tensor, int from) {
  if (esp() == 1) {
    return from;
  }
  const int to = add_like(place, tensor, from, program_.tensor(from).blocks / esp());
  sum_copies(place, program_.all(from), program_.all(to));
  return to;
}

void ParmFlow::sum_copies(const Place& place, const Region& from, const Region& to) {
  const LocalSum sum{program_.groups().ep, esp()};
  add_compute_task(task_kind::kLocalSum, place, move_task(sum, from, to));
}

int ParmFlow::exchange(
    const Place& place, const std::string& tensor, std::string_view kind, int group, int from) {
  if (program_.group_size(group) == 1) {
    return from;
  }
  const int to = add_like(place, tensor, from, program_.tensor(from).blocks);
  const Collective all_to_all{CollectiveOperation::kAllToAll, group};
  program_.add_task(
      kind, streams_.inter, place, move_task(all_to_all, program_.all(from), program_.all(to)));
  return to;
}

void ParmFlow::slice(const Place& place, int group, const Region& from, const Region& to) {
  const bool keeps = from.num_list_rows() > to.num_list_rows();
  add_compute_task(
      keeps ? task_kind::kSlice : task_kind::kPad, place, move_task(Slice{group}, from, to));
}

void ParmFlow::reduce(std::string_view kind, const Place& place, int group, const Region& region) {
  if (program_.group_size(group) > 1) {
    const Collective all_reduce{CollectiveOperation::kAllReduce, group};
    program_.add_task(kind, streams_.inter, place, move_task(all_reduce, region, region));
  }
}

}  // namespace moesim
