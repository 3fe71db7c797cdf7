#include "sim/analysis/trace_index.h"

#include <algorithm>

#include "sim/base/check.h"

namespace moesim {
namespace {

LaunchOrder make_order(const Program& program, const std::vector<int>& tasks) {
  LaunchOrder order;
  order.tasks = tasks;
  order.before.resize(program.tasks.size(), kNone);
  order.before_on_stream.resize(program.tasks.size(), kNone);
  order.turn.resize(program.tasks.size(), kNone);
  std::vector<int> last_on_stream(program.streams.size(), kNone);
  int last = kNone;
  for (const int index : tasks) {
    const Task& task = program.tasks[index];
    order.before[index] = std::exchange(last, index);
    if (task.stream != kNone) {
      order.before_on_stream[index] = std::exchange(last_on_stream[task.stream], index);
    }
    if (const Collective* collective = collective_of(task)) {
      std::vector<int>& turns = order.collectives[{collective->group, task.stream}];
      order.turn[index] = static_cast<int>(turns.size());
      turns.push_back(index);
    }
  }
  return order;
}

}  // namespace

TraceIndex::TraceIndex(const Program& program, const Trace& trace)
    : program_(&program),
      trace_(&trace),
      class_of_rank_(program.num_ranks, kNone),
      span_of_(trace.classes.size(), std::vector<int>(program.tasks.size(), kNone)) {
  number_ranks();
  place_spans();
  find_orders();
}

void TraceIndex::number_ranks() {
  for (int class_index = 0; class_index < num_classes(); ++class_index) {
    for (const int rank : trace_->classes[class_index].ranks) {
      CHECK(class_of_rank_.at(rank) == kNone, "rank {} is in two classes", rank);
      class_of_rank_[rank] = class_index;
    }
  }
}

void TraceIndex::place_spans() {
  const int num_spans = static_cast<int>(trace_->spans.size());
  for (int i = 0; i < num_spans; ++i) {
    const TaskSpan& span = trace_->spans[i];
    const int class_index = class_of_rank_.at(span.rank);
    CHECK(class_index != kNone, "rank {} has a span and no class", span.rank);
    CHECK(span_of_[class_index].at(span.task) == kNone, "two spans of task {}", span.task);
    span_of_[class_index][span.task] = i;
  }
}

// A host launches in the order of the program, so that is the order of a class's spans. Thousands
// of classes have a few orders between them.
void TraceIndex::find_orders() {
  std::map<std::vector<int>, int> known;  // by tasks
  for (const std::vector<int>& span_of_task : span_of_) {
    std::vector<int> tasks;
    for (int task = 0; task < static_cast<int>(span_of_task.size()); ++task) {
      if (span_of_task[task] != kNone) {
        tasks.push_back(task);
      }
    }
    const auto [found, is_new] =
        known.try_emplace(std::move(tasks), static_cast<int>(orders_.size()));
    if (is_new) {
      orders_.push_back(make_order(*program_, found->first));
    }
    order_of_class_.push_back(found->second);
  }
}

std::vector<int> TraceIndex::launches(int class_index) const {
  std::vector<int> spans;
  spans.reserve(order(class_index).tasks.size());
  for (const int task : order(class_index).tasks) {
    spans.push_back(span_of_[class_index][task]);
  }
  return spans;
}

int TraceIndex::launched_before(int span) const {
  return span_on_same_class(span, order(class_of_span(span)).before[trace_->spans[span].task]);
}

int TraceIndex::before_on_stream(int span) const {
  return span_on_same_class(span,
                            order(class_of_span(span)).before_on_stream[trace_->spans[span].task]);
}

int TraceIndex::span_on_same_class(int span, int task) const {
  return task == kNone ? kNone : span_of_[class_of_span(span)][task];
}

std::vector<int> TraceIndex::members(int span) const {
  const TaskSpan& own = trace_->spans[span];
  const Task& task = program_->tasks[own.task];
  const Collective* collective = collective_of(task);
  CHECK(collective != nullptr, "task {} is no collective", task.name);
  const LaunchOrder::Communicator communicator = {collective->group, task.stream};
  const int turn = order(class_of_span(span)).turn[own.task];
  std::vector<int> spans = {span};
  std::vector<bool> is_in(span_of_.size());  // by class
  is_in[class_of_rank_[own.rank]] = true;
  for (const int rank : members_of(program_->groups[collective->group], own.rank)) {
    const int class_index = class_of_rank_[rank];
    if (!is_in[class_index]) {
      is_in[class_index] = true;
      const int of_member = order(class_index).collectives.at(communicator).at(turn);
      spans.push_back(span_of_[class_index][of_member]);
    }
  }
  return spans;
}

std::vector<int> members_of(const Group& group, int rank) {
  for (const std::vector<int>& members : group.members) {
    if (std::find(members.begin(), members.end(), rank) != members.end()) {
      return members;
    }
  }
  return {};
}

}  // namespace moesim
