#include "sim/schedule/pipeline.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/schedule/task_kinds.h"
#include "sim/schedule/update.h"

namespace moesim {
namespace {

// SP-MoE: one degree divides the other; the smaller one counts the gate domains.
int count_units(const Degrees& degrees) {
  const int moe = *std::max_element(degrees.forward.begin(), degrees.forward.end());
  return std::min(degrees.non_moe, moe);
}

LayerStreams make_streams(ModelProgram& program, const PipelinePolicy& policy, int num_units) {
  LayerStreams streams;
  streams.compute = program.stream("compute");
  if (policy.overlap_intra_with_inter) {
    streams.intra = program.stream("intra");
    streams.inter = program.stream("inter");
  } else {
    streams.intra = program.stream("communication");
    streams.inter = streams.intra;
  }
  // A unit alone holds up no other: without units the flow is everyone's, to the picosecond.
  const bool route_beside = policy.route_beside_communication && num_units > 1;
  streams.routing = route_beside ? streams.inter : streams.compute;
  return streams;
}

}  // namespace

Pipeline::Pipeline(const RoutedScenario& scenario,
                   const std::string& schedule,
                   const PipelinePolicy& policy,
                   const Degrees& degrees,
                   GradientPlan gradients)
    : policy_(policy),
      degrees_(degrees),
      gradients_(std::move(gradients)),
      program_(scenario, schedule),
      streams_(make_streams(program_, policy, count_units(degrees))),
      num_units_(count_units(degrees)) {}

Program Pipeline::build() && {
  issue_stages(program_, streams_.compute, *this);
  append_update(program_, streams_, GateReads::kSlice);
  return std::move(program_).build();
}

SequenceRange Pipeline::sequence_range(int chunk) const {
  // A chunk's B * count tokens must divide by mp: cut in steps of mp / gcd(B, mp) positions.
  const int mp = program_.scenario().parallel.mp;
  const int step = mp / std::gcd(program_.model().batch, mp);
  const int steps = program_.model().sequence / step;
  const int first = part_begin(steps, degrees_.non_moe, chunk) * step;
  return {first, part_begin(steps, degrees_.non_moe, chunk + 1) * step - first};
}

SequenceRange Pipeline::unit_range(int unit) const {
  const SequenceRange first = sequence_range(unit * attention_chunks());
  const SequenceRange last = sequence_range((unit + 1) * attention_chunks() - 1);
  return {first.first, last.end() - first.first};
}

int Pipeline::token_rows(const SequenceRange& range) const {
  return program_.model().batch * range.count / program_.scenario().parallel.mp;
}

int Pipeline::moe_degree(int layer, Pass pass) const {
  const auto& degrees = pass == Pass::kBackward ? degrees_.backward : degrees_.forward;
  const int degree = degrees.at(static_cast<size_t>(program_.global_layer(layer)));
  return std::max(1, degree / num_units_);
}

const GradientSlots& Pipeline::slots(int layer) const {
  return gradients_.layers.at(static_cast<size_t>(program_.global_layer(layer)));
}

Pipeline::Layer Pipeline::make_layer(int index, Pass pass, int input) {
  Layer layer;
  layer.input = input;
  layer.attention =
      std::make_unique<AttentionBlock>(program_, streams_.compute, Place{pass, index}, input);
  int pad = 1;
  if (program_.model().pad_capacity) {
    pad = std::lcm(moe_degree(index, Pass::kForward), moe_degree(index, Pass::kBackward));
  }
  for (int unit = 0; unit < num_units_; ++unit) {
    layer.units.emplace_back(
        program_,
        MoeUnit::Options{streams_, index, unit, num_units_, token_rows(unit_range(unit)), pad});
  }
  return layer;
}

int Pipeline::forward(int input) {
  layers_.clear();
  for (int index = 0; index < num_layers(); ++index) {
    layers_.push_back(make_layer(index, Pass::kForward, input));
    input = program_.add_tokens(program_.layer_prefix(index) + "output");
    layers_.back().output = input;
  }
  issue_forward();
  kept_[program_.part()] = std::exchange(layers_, {});
  return input;
}

void Pipeline::issue_forward() {
  for (int unit = 0; unit < num_units_; ++unit) {
    attend(layers_.front(), unit);
    open(layers_.front(), {Pass::kForward, 0}, unit);
  }
  for (int step = 0; step < num_layers() * num_units_ + lag(); ++step) {
    forward_step(step);
    const int behind = step - lag();
    const int next = behind / num_units_ + 1;
    if (behind >= 0 && next < num_layers()) {
      Layer& layer = layers_[static_cast<size_t>(next)];
      attend(layer, behind % num_units_);
      open(layer, {Pass::kForward, next}, behind % num_units_);
    }
  }
}

// One unit of one layer, from its experts to its output.
void Pipeline::forward_step(int step) {
  const int index = step / num_units_;
  if (index < num_layers()) {
    const int unit = step % num_units_;
    Layer& layer = layers_[static_cast<size_t>(index)];
    MoeUnit& moe = layer.units[static_cast<size_t>(unit)];
    issue_experts(moe);
    issue_combines(moe);
    close(layer, {Pass::kForward, index}, unit);
  }
}

void Pipeline::attend(Layer& layer, int unit) {
  const int chunks = attention_chunks();
  for (int chunk = unit * chunks; chunk < (unit + 1) * chunks; ++chunk) {
    layer.attention->forward(sequence_range(chunk), sequence_label(chunk));
  }
}

void Pipeline::open(Layer& layer, const Place& place, int unit) {
  const std::string recompute = place.pass == Pass::kRecompute ? "recompute." : "";
  const std::string name = program_.layer_prefix(place.layer) + recompute + "tokens";
  layer.unit_input.push_back(token_region(name, layer.attention->output(), unit));
  scatter_tokens(place, layer.attention->output(), layer.unit_input.back(), unit);
  MoeUnit& moe = layer.units[static_cast<size_t>(unit)];
  moe.route(place.pass, layer.unit_input.back(), moe_degree(place.layer, place.pass));
  issue_dispatches(moe, {}, place);
}

void Pipeline::close(Layer& layer, const Place& place, int unit) {
  const std::string name = program_.layer_prefix(place.layer) + "result";
  layer.unit_output.push_back(token_region(name, layer.output, unit));
  layer.units[static_cast<size_t>(unit)].unorder(layer.unit_output.back());
  gather_tokens(place, layer.unit_output.back(), layer.output, unit);
}

std::vector<int> Pipeline::chunk_order(const MoeUnit& unit, Pass pass) const {
  std::vector<int> order(static_cast<size_t>(unit.num_chunks()));
  std::iota(order.begin(), order.end(), 0);
  if (policy_.reverse_backward_chunks && pass == Pass::kBackward) {
    std::reverse(order.begin(), order.end());
  }
  return order;
}

// FSMoE's first loop. The gradient slice follows the last dispatch: before its gather where
// inter-node traffic has a stream of its own, so that one hardware queue does not delay it.
void Pipeline::issue_dispatches(MoeUnit& unit, const std::vector<int>& slices, const Place& place) {
  if (!held_back_.empty()) {
    unit.hold(std::exchange(held_back_, {}));
  }
  const std::vector<int> order = chunk_order(unit, place.pass);
  for (const int chunk : order) {
    unit.dispatch(chunk);
    const bool last = chunk == order.back();
    if (last && policy_.overlap_intra_with_inter) {
      reduce_gradient(streams_.inter, place, slices, {});
    }
    unit.gather(chunk);
    if (last && !policy_.overlap_intra_with_inter) {
      reduce_gradient(streams_.inter, place, slices, {});
    }
  }
}

// FSMoE's second loop.
void Pipeline::issue_experts(MoeUnit& unit) {
  for (const int chunk : chunk_order(unit, unit.pass())) {
    unit.expert(chunk);
    if (policy_.overlap_intra_with_inter) {
      unit.scatter(chunk);
    }
  }
}

// FSMoE's third loop; with one communication at a time a chunk's ReduceScatter and combine follow
// each other. Returns the last task.
int Pipeline::issue_combines(MoeUnit& unit) {
  int last = kNone;
  for (const int chunk : chunk_order(unit, unit.pass())) {
    if (!policy_.overlap_intra_with_inter) {
      last = std::max(last, unit.scatter(chunk));
    }
    last = std::max(last, unit.combine(chunk));
  }
  return last;
}

Region Pipeline::token_region(const std::string& name, int sequence_tensor, int unit) {
  const SequenceRange range = unit_range(unit);
  if (program_.scenario().parallel.mp == 1) {
    return program_.rows(sequence_tensor, range.first, range.count);
  }
  const std::string full_name = num_units_ > 1 ? fmt::format("{}.{}", name, unit) : name;
  return program_.all(
      program_.add_tensor(full_name, 1, token_rows(range), program_.model().embedding));
}

void Pipeline::scatter_tokens(const Place& place, int from, const Region& to, int unit) {
  move_tokens(place, CollectiveOperation::kReduceScatter, from, to, unit);
}

void Pipeline::gather_tokens(const Place& place, const Region& from, int to, int unit) {
  move_tokens(place, CollectiveOperation::kAllGather, to, from, unit);
}

// One collective per attention chunk of the unit: each is sliced over mp by itself.
void Pipeline::move_tokens(const Place& place,
                           CollectiveOperation operation,
                           int sequence_tensor,
                           const Region& slice,
                           int unit) {
  if (program_.scenario().parallel.mp == 1) {
    return;
  }
  const bool scatters = operation == CollectiveOperation::kReduceScatter;
  int row = 0;
  for (int i = 0; i < attention_chunks(); ++i) {
    const int chunk = unit * attention_chunks() + i;
    const SequenceRange range = sequence_range(chunk);
    const Region whole = program_.rows(sequence_tensor, range.first, range.count);
    const Region own = program_.rows(slice.tensor, row, token_rows(range));
    program_.add_task(scatters ? task_kind::kMpReduceScatter : task_kind::kMpAllGather,
                      streams_.intra,
                      {place.pass, place.layer, sequence_label(chunk)},
                      move_task(Collective{operation, program_.groups().mp},
                                scatters ? whole : own,
                                scatters ? own : whole));
    row += token_rows(range);
  }
}

}  // namespace moesim
