#include "sim/schedule/moe_unit.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "sim/base/check.h"
#include "sim/base/error.h"
#include "sim/schedule/task_kinds.h"

namespace moesim {
namespace {

int round_up(int count, int multiple) {
  const std::int64_t rows = (std::int64_t{count} + multiple - 1) / multiple * multiple;
  if (rows > std::numeric_limits<int>::max()) {
    throw Error(fmt::format(
        "pad_capacity makes {} rows for each expert; lower the degrees or the capacity", rows));
  }
  return static_cast<int>(rows);
}

}  // namespace

MoeUnit::MoeUnit(ModelProgram& program, const Options& options)
    : program_(&program),
      options_(options),
      buffer_rows_(round_up(program.buffer_rows(options.domain_rows, 1), options.pad_rows_to)) {
  global_experts_.resize(static_cast<size_t>(program.model().experts));
  std::iota(global_experts_.begin(), global_experts_.end(), 0);
}

std::string MoeUnit::prefix() const {
  std::string prefix = program_->layer_prefix(options_.layer);
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
  const int experts = program_->model().experts;
  pass_ = pass;
  cut(degree);
  const int rows = options_.domain_rows;
  domain_.input = input;
  domain_.probs = program_->add_tensor(prefix() + "probs", 1, rows, experts);
  domain_.index = program_->add_index_tensor(prefix() + "index", experts, buffer_rows_);
  domain_.weight = add_buffer("weight", experts, 1);
  domain_.gate = make_gate(*program_, {rows, 1}, global_experts_, 1);
  activations_ = add_buffers("");
  begin_hidden("hidden");
  add_routing_task(task_kind::kGate, gate_task(*program_, domain_, options_.layer));
  add_routing_task(task_kind::kOrder,
                   order_task(*program_, domain_, program_->all(activations_.sent)));
}

void MoeUnit::unorder_backward(const Region& d_output, int degree) {
  pass_ = Pass::kBackward;
  cut(degree);
  gradients_ = add_buffers("d_");
  domain_.d_weight = add_buffer("d_weight", program_->model().experts, 1);
  add_routing_task(task_kind::kUnorder,
                   unorder_backward_task(*program_,
                                         domain_,
                                         program_->all(activations_.combined),
                                         d_output,
                                         program_->all(gradients_.sent)));
}

void MoeUnit::unorder(const Region& output) {
  add_routing_task(task_kind::kUnorder,
                   unorder_task(*program_, domain_, program_->all(activations_.combined), output));
}

void MoeUnit::route_backward(const Region& d_input) {
  const Region d_buffer = program_->all(gradients_.combined);
  add_routing_task(task_kind::kOrder, order_backward_task(*program_, domain_, d_buffer, d_input));
  add_routing_task(task_kind::kGate,
                   gate_backward_task(*program_, domain_, options_.layer, d_input, true));
}

void MoeUnit::add_routing_task(std::string_view kind, Task task) {
  program_->add_task(kind, options_.streams.routing, unit_place(), std::move(task));
}

int MoeUnit::exchange(const Step& step, int chunk, int from, int to) {
  if (from == to) {
    return kNone;
  }
  Collective collective{step.operation, step.group};
  const bool tokens_choose = program_->model().gate != GateKind::kExpertChoice;
  if (step.operation == CollectiveOperation::kAllToAll && tokens_choose) {
    collective.top_k = program_->model().top_k;
    collective.num_experts = program_->model().experts;
    collective.combine = step.kind == task_kind::kCombine;
  }
  Task task = move_task(collective, chunk_rows(from, chunk), chunk_rows(to, chunk));
  task.order_only = std::exchange(order_only_, {});
  return program_->add_task(step.kind, step.stream, place(chunk), std::move(task));
}

int MoeUnit::dispatch(int chunk) {
  return exchange({task_kind::kDispatch,
                   options_.streams.inter,
                   CollectiveOperation::kAllToAll,
                   program_->groups().ep},
                  chunk,
                  current().sent,
                  current().received);
}

int MoeUnit::gather(int chunk) {
  return exchange({task_kind::kEspAllGather,
                   options_.streams.intra,
                   CollectiveOperation::kAllGather,
                   program_->groups().esp},
                  chunk,
                  current().received,
                  current().gathered);
}

int MoeUnit::scatter(int chunk) {
  return exchange({task_kind::kEspReduceScatter,
                   options_.streams.intra,
                   CollectiveOperation::kReduceScatter,
                   program_->groups().esp},
                  chunk,
                  current().produced,
                  current().reduced);
}

int MoeUnit::combine(int chunk) {
  return exchange({task_kind::kCombine,
                   options_.streams.inter,
                   CollectiveOperation::kAllToAll,
                   program_->groups().ep},
                  chunk,
                  current().reduced,
                  current().combined);
}

int MoeUnit::expert(int chunk) {
  return pass_ == Pass::kBackward ? expert_backward(chunk) : expert_forward(chunk, false);
}

void MoeUnit::begin_hidden(const char* name) {
  const int blocks = program_->tensor(activations_.gathered).blocks;
  hidden_ = add_buffer(name, blocks, program_->sizes().hidden_columns);
}

void MoeUnit::recompute_hidden() {
  begin_hidden("recompute.hidden");
  for (int chunk = 0; chunk < num_chunks(); ++chunk) {
    expert_forward(chunk, true);
  }
}

int MoeUnit::expert_forward(int chunk, bool hidden_only) {
  std::vector<Region> outputs;
  if (!hidden_only) {
    outputs.push_back(chunk_rows(activations_.produced, chunk));
  }
  outputs.push_back(chunk_rows(hidden_, chunk));
  const Region input = chunk_rows(activations_.gathered, chunk);
  Place at = place(chunk);
  at.pass = hidden_only ? Pass::kRecompute : pass_;
  return program_->add_task(task_kind::kExpert,
                            options_.streams.compute,
                            at,
                            expert_task(*program_, options_.layer, input, std::move(outputs)));
}

int MoeUnit::expert_backward(int chunk) {
  const ExpertActivations kept{chunk_rows(activations_.gathered, chunk),
                               chunk_rows(hidden_, chunk)};
  Task task = expert_backward_task(*program_,
                                   options_.layer,
                                   kept,
                                   chunk_rows(gradients_.gathered, chunk),
                                   chunk_rows(gradients_.produced, chunk));
  return program_->add_task(
      task_kind::kExpert, options_.streams.compute, place(chunk), std::move(task));
}

}  // namespace moesim
