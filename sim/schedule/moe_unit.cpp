#include "sim/schedule/moe_unit.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "sim/base/check.h"

namespace moesim {
namespace {

int round_up(int count, int multiple) {
  return (count + multiple - 1) / multiple * multiple;
}

}  // namespace

MoeUnit::MoeUnit(ModelProgram& program, const Options& options)
    : program_(&program),
      options_(options),
      buffer_rows_(round_up(program.buffer_rows(options.domain_rows, 1), options.pad_rows_to)) {
  const ModelConfig& model = program.model();
  const int local_experts = program.sizes().local_experts;
  global_experts_.resize(static_cast<size_t>(model.experts));
  std::iota(global_experts_.begin(), global_experts_.end(), 0);
  for (int block = 0; block < model.experts * program.scenario().parallel.esp; ++block) {
    local_experts_.push_back(block % local_experts);
  }
}

std::string MoeUnit::prefix() const {
  std::string prefix = fmt::format("layer{}.", options_.layer);
  if (options_.num_units > 1) {
    prefix += fmt::format("unit{}.", options_.unit);
  }
  return pass_ == Pass::kRecompute ? prefix + "recompute." : prefix;
}

Place MoeUnit::unit_place() const {
  return {pass_, options_.layer, options_.num_units > 1 ? options_.unit : kNone};
}

Place MoeUnit::place(int chunk) const {
  return {pass_, options_.layer, options_.unit * num_chunks() + chunk};
}

void MoeUnit::cut(int degree) {
  const int chunks = std::clamp(degree, 1, std::max(1, buffer_rows_));
  chunk_begin_.clear();
  for (int chunk = 0; chunk <= chunks; ++chunk) {
    chunk_begin_.push_back(part_begin(buffer_rows_, chunks, chunk));
  }
}

Region MoeUnit::chunk_rows(int tensor, int chunk) const {
  const auto at = static_cast<size_t>(chunk);
  return program_->rows(tensor, chunk_begin_[at], chunk_begin_[at + 1] - chunk_begin_[at]);
}

int MoeUnit::add_buffer(const std::string& name, int blocks, int columns) {
  return program_->add_tensor(prefix() + name, blocks, buffer_rows_, columns);
}

MoeUnit::Buffers MoeUnit::add_buffers(const std::string& gradient) {
  const ParallelConfig& parallel = program_->scenario().parallel;
  const int experts = program_->model().experts;
  const int columns = program_->model().embedding;
  Buffers buffers;
  buffers.sent = add_buffer(gradient + "sent", experts, columns);
  buffers.received =
      parallel.ep > 1 ? add_buffer(gradient + "received", experts, columns) : buffers.sent;
  buffers.gathered = parallel.esp > 1
                         ? add_buffer(gradient + "gathered", parallel.esp * experts, columns)
                         : buffers.received;
  buffers.produced = add_buffer(gradient + "produced", parallel.esp * experts, columns);
  buffers.reduced =
      parallel.esp > 1 ? add_buffer(gradient + "reduced", experts, columns) : buffers.produced;
  buffers.combined =
      parallel.ep > 1 ? add_buffer(gradient + "combined", experts, columns) : buffers.reduced;
  return buffers;
}

const MoeUnit::Buffers& MoeUnit::current() const {
  return pass_ == Pass::kBackward ? gradients_ : activations_;
}

void MoeUnit::route(Pass pass, const Region& input, int degree) {
  const ModelConfig& model = program_->model();
  pass_ = pass;
  input_ = input;
  cut(degree);
  const int rows = options_.domain_rows;
  probs_ = program_->add_tensor(prefix() + "probs", 1, rows, model.experts);
  index_ = program_->add_index_tensor(prefix() + "index", model.experts, buffer_rows_);
  weight_ = add_buffer("weight", model.experts, 1);
  activations_ = add_buffers("");
  begin_hidden("hidden");

  Task gate;
  gate.descriptor = Gate{model.gate,
                         model.top_k,
                         global_experts_,
                         program_->routing(rows, 1),
                         !model.capacity_factor.has_value(),
                         1};
  gate.reads = {input, program_->gate_rows(program_->gate().weight, options_.layer)};
  gate.writes = {program_->all(probs_), program_->all(index_), program_->all(weight_)};
  program_->add_task("gate", options_.streams.routing, unit_place(), std::move(gate));

  Task order;
  order.descriptor = Order{global_experts_};
  order.reads = {input, program_->all(index_)};
  order.writes = {program_->all(activations_.sent)};
  program_->add_task("order", options_.streams.routing, unit_place(), std::move(order));
}

void MoeUnit::unorder_backward(const Region& d_output, int degree) {
  pass_ = Pass::kBackward;
  cut(degree);
  gradients_ = add_buffers("d_");
  d_weight_ = add_buffer("d_weight", program_->model().experts, 1);
  Task task;
  task.descriptor = Unorder{global_experts_};
  task.reads = {d_output,
                program_->all(activations_.combined),
                program_->all(index_),
                program_->all(weight_)};
  task.writes = {program_->all(gradients_.sent), program_->all(d_weight_)};
  program_->add_task("unorder", options_.streams.routing, unit_place(), std::move(task));
}

int MoeUnit::exchange(
    const char* kind, int stream, const Collective& collective, int chunk, int from, int to) {
  if (from == to) {
    return kNone;
  }
  Task task;
  task.descriptor = collective;
  task.reads = {chunk_rows(from, chunk)};
  task.writes = {chunk_rows(to, chunk)};
  task.order_only = std::exchange(order_only_, {});
  return program_->add_task(kind, stream, place(chunk), std::move(task));
}

int MoeUnit::dispatch(int chunk) {
  const Collective collective{CollectiveOperation::kAllToAll, program_->groups().ep};
  return exchange(
      "dispatch", options_.streams.inter, collective, chunk, current().sent, current().received);
}

int MoeUnit::gather(int chunk) {
  const Collective collective{CollectiveOperation::kAllGather, program_->groups().esp};
  return exchange("esp_all_gather",
                  options_.streams.intra,
                  collective,
                  chunk,
                  current().received,
                  current().gathered);
}

int MoeUnit::scatter(int chunk) {
  const Collective collective{CollectiveOperation::kReduceScatter, program_->groups().esp};
  return exchange("esp_reduce_scatter",
                  options_.streams.intra,
                  collective,
                  chunk,
                  current().produced,
                  current().reduced);
}

int MoeUnit::combine(int chunk) {
  const Collective collective{CollectiveOperation::kAllToAll, program_->groups().ep};
  return exchange(
      "combine", options_.streams.inter, collective, chunk, current().reduced, current().combined);
}

int MoeUnit::expert(int chunk) {
  return pass_ == Pass::kBackward ? expert_backward(chunk) : expert_forward(chunk, false);
}

void MoeUnit::begin_hidden(const char* name) {
  const int blocks = static_cast<int>(local_experts_.size());
  hidden_ = add_buffer(name, blocks, program_->sizes().hidden_columns);
}

void MoeUnit::recompute_hidden() {
  begin_hidden("recompute.hidden");
  for (int chunk = 0; chunk < num_chunks(); ++chunk) {
    expert_forward(chunk, true);
  }
}

int MoeUnit::expert_forward(int chunk, bool hidden_only) {
  Task task;
  task.descriptor = Expert{local_experts_, program_->model().feed_forward == FeedForward::kSwiglu};
  task.reads = {chunk_rows(activations_.gathered, chunk)};
  for (const Region& matrix :
       program_->expert_matrices(program_->expert().weight, options_.layer)) {
    task.reads.push_back(matrix);
  }
  if (!hidden_only) {
    task.writes.push_back(chunk_rows(activations_.produced, chunk));
  }
  task.writes.push_back(chunk_rows(hidden_, chunk));
  Place at = place(chunk);
  at.pass = hidden_only ? Pass::kRecompute : pass_;
  return program_->add_task("expert", options_.streams.compute, at, std::move(task));
}

int MoeUnit::expert_backward(int chunk) {
  Task task;
  task.descriptor = Expert{local_experts_, program_->model().feed_forward == FeedForward::kSwiglu};
  task.reads = {chunk_rows(gradients_.gathered, chunk),
                chunk_rows(activations_.gathered, chunk),
                chunk_rows(hidden_, chunk)};
  for (const Region& matrix :
       program_->expert_matrices(program_->expert().weight, options_.layer)) {
    task.reads.push_back(matrix);
  }
  task.writes = {chunk_rows(gradients_.produced, chunk)};
  for (const Region& matrix :
       program_->expert_matrices(program_->expert().gradient, options_.layer)) {
    program_->accumulate(task, matrix);
  }
  return program_->add_task("expert", options_.streams.compute, place(chunk), std::move(task));
}

void MoeUnit::unorder(const Region& output) {
  Task task;
  task.descriptor = Unorder{global_experts_};
  task.reads = {
      program_->all(activations_.combined), program_->all(index_), program_->all(weight_)};
  task.writes = {output};
  program_->add_task("unorder", options_.streams.routing, unit_place(), std::move(task));
}

void MoeUnit::route_backward(const Region& d_input) {
  Task order;
  order.descriptor = Order{global_experts_};
  order.reads = {program_->all(gradients_.combined), program_->all(index_)};
  order.writes = {d_input};
  program_->add_task("order", options_.streams.routing, unit_place(), std::move(order));

  const ModelConfig& model = program_->model();
  Task gate;
  gate.descriptor = Gate{model.gate,
                         model.top_k,
                         global_experts_,
                         program_->routing(options_.domain_rows, 1),
                         !model.capacity_factor.has_value(),
                         1};
  gate.reads = {program_->all(d_weight_),
                program_->all(probs_),
                program_->all(index_),
                input_,
                program_->gate_rows(program_->gate().weight, options_.layer),
                d_input};
  gate.writes = {d_input};
  program_->accumulate(gate, program_->gate_rows(program_->gate().gradient, options_.layer));
  program_->add_task("gate", options_.streams.routing, unit_place(), std::move(gate));
}

}  // namespace moesim
