#include "sim/analysis/trace_index.h"

#include <algorithm>

#include "sim/base/check.h"

namespace moesim {

TraceIndex::TraceIndex(const Program& program, const Trace& trace)
    : program_(&program),
      trace_(&trace),
      class_of_rank_(program.num_ranks, kNone),
      span_of_(trace.classes.size(), std::vector<int>(program.tasks.size(), kNone)),
      launches_(trace.classes.size()),
      launched_before_(trace.spans.size(), kNone),
      before_on_stream_(trace.spans.size(), kNone),
      turn_(trace.spans.size(), kNone),
      collectives_(trace.classes.size()) {
  const int num_classes = static_cast<int>(trace.classes.size());
  for (int class_index = 0; class_index < num_classes; ++class_index) {
    for (const int rank : trace.classes[class_index].ranks) {
      CHECK(class_of_rank_.at(rank) == kNone, "rank {} is in two classes", rank);
      class_of_rank_[rank] = class_index;
    }
  }
  const int num_spans = static_cast<int>(trace.spans.size());
  for (int i = 0; i < num_spans; ++i) {
    const TaskSpan& span = trace.spans[i];
    const int class_index = class_of_rank_.at(span.rank);
    CHECK(class_index != kNone, "rank {} has a span and no class", span.rank);
    CHECK(span_of_[class_index].at(span.task) == kNone, "two spans of task {}", span.task);
    span_of_[class_index][span.task] = i;
  }
  for (int class_index = 0; class_index < num_classes; ++class_index) {
    index_class(class_index);
  }
}

// A host launches in the order of the program, so that is the order of a class's spans.
void TraceIndex::index_class(int class_index) {
  std::vector<int> last_on_stream(program_->streams.size(), kNone);
  std::vector<int>& launches = launches_[class_index];
  for (const int span : span_of_[class_index]) {
    if (span == kNone) {
      continue;
    }
    const Task& task = program_->tasks[trace_->spans[span].task];
    launched_before_[span] = launches.empty() ? kNone : launches.back();
    launches.push_back(span);
    if (task.stream != kNone) {
      before_on_stream_[span] = std::exchange(last_on_stream[task.stream], span);
    }
    if (const Collective* collective = collective_of(task)) {
      auto& turns = collectives_[class_index][{collective->group, task.stream}];
      turn_[span] = static_cast<int>(turns.size());
      turns.push_back(span);
    }
  }
}

std::vector<int> TraceIndex::members(int span) const {
  const TaskSpan& own = trace_->spans[span];
  const Task& task = program_->tasks[own.task];
  const Collective* collective = collective_of(task);
  CHECK(collective != nullptr, "task {} is no collective", task.name);
  const Communicator communicator = {collective->group, task.stream};
  std::vector<int> spans = {span};
  std::vector<bool> is_in(collectives_.size());  // by class
  is_in[class_of_rank_[own.rank]] = true;
  for (const int rank : members_of(program_->groups[collective->group], own.rank)) {
    const int class_index = class_of_rank_[rank];
    if (!is_in[class_index]) {
      is_in[class_index] = true;
      spans.push_back(collectives_[class_index].at(communicator).at(turn_[span]));
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
