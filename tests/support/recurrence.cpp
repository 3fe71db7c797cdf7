#include "tests/support/recurrence.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace moesim::test {
namespace {

bool contains(const std::vector<int>& values, int value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

// What one rank has done so far.
struct RankState {
  Time host;
  std::vector<Time> stream_end;
  std::vector<int> queue_of_stream;
  std::vector<Time> queue_start;
  int num_streams = 0;
  std::vector<Time> task_end;
};

class Recurrence {
 public:
  Recurrence(const Program& program,
             const std::vector<Time>& durations,
             const RecurrenceOptions& options)
      : program_(program), durations_(durations), options_(options) {
    RankState state;
    state.stream_end.resize(program.streams.size());
    state.queue_of_stream.resize(program.streams.size(), kNone);
    state.queue_start.resize(static_cast<std::size_t>(options.hardware_queues));
    state.task_end.resize(program.tasks.size());
    ranks_.resize(static_cast<std::size_t>(program.num_ranks), state);
    for (int rank = 0; rank < program.num_ranks; ++rank) {
      trace_.classes.push_back({rank, {rank}});
    }
    trace_.executor = "recurrence";
    trace_.resolution = "ports";
  }

  Trace run() && {
    for (int task = 0; task < static_cast<int>(program_.tasks.size()); ++task) {
      run_task(task);
    }
    const auto order = [](const TaskSpan& a, const TaskSpan& b) {
      return std::tuple(a.start, a.task, a.rank) < std::tuple(b.start, b.task, b.rank);
    };
    std::sort(trace_.spans.begin(), trace_.spans.end(), order);
    return std::move(trace_);
  }

 private:
  bool runs(const Task& task, int rank) const {
    const auto has_rank = [&](int role) { return contains(program_.roles[role].ranks, rank); };
    return task.roles.empty() || std::any_of(task.roles.begin(), task.roles.end(), has_rank);
  }

  void run_task(int index) {
    const Task& task = program_.tasks[index];
    if (const auto* collective = std::get_if<Collective>(&task.descriptor)) {
      for (const std::vector<int>& members : program_.groups[collective->group].members) {
        if (runs(task, members.front())) {
          run_together(index, members, durations_[index]);
        }
      }
      return;
    }
    for (int rank = 0; rank < program_.num_ranks; ++rank) {
      if (runs(task, rank)) {
        const double scale = options_.rank_scale.empty() ? 1 : options_.rank_scale[rank];
        run_together(index, {rank}, durations_[index].scaled(scale));
      }
    }
  }

  void run_together(int index, const std::vector<int>& members, Time duration) {
    std::vector<TaskSpan> spans;
    Time last;
    for (const int rank : members) {
      spans.push_back(begin(index, rank));
      last = std::max(last, spans.back().start);
    }
    for (TaskSpan& span : spans) {
      span.transfer = last;
      span.end = last + duration;
      finish(span);
      trace_.spans.push_back(span);
      trace_.end = std::max(trace_.end, span.end);
    }
  }

  TaskSpan begin(int index, int rank) {
    const Task& task = program_.tasks[index];
    RankState& state = ranks_[rank];
    const bool host_waits = task.stream == kNone;
    TaskSpan span;
    span.rank = rank;
    span.task = index;
    span.launched = state.host + (host_waits ? Time::zero() : options_.launch_overhead);
    span.start = span.launched;
    for (const auto* waits : {&task.waits, &task.order_only}) {
      for (const int wait : *waits) {
        span.start = std::max(span.start, state.task_end[wait]);
      }
    }
    if (host_waits) {
      state.host = span.start;
      return span;
    }
    state.host = span.launched;
    int& queue = state.queue_of_stream[task.stream];
    queue = queue == kNone ? state.num_streams++ % options_.hardware_queues : queue;
    Time& queue_start = state.queue_start[queue];
    span.start = std::max({span.start, state.stream_end[task.stream], queue_start});
    queue_start = span.start;
    return span;
  }

  void finish(const TaskSpan& span) {
    RankState& state = ranks_[span.rank];
    state.task_end[span.task] = span.end;
    const int stream = program_.tasks[span.task].stream;
    if (stream != kNone) {
      state.stream_end[stream] = span.end;
    }
  }

  const Program& program_;
  const std::vector<Time>& durations_;
  const RecurrenceOptions& options_;
  std::vector<RankState> ranks_;
  Trace trace_;
};

}  // namespace

Trace run_recurrence(const Program& program,
                     const std::vector<Time>& durations,
                     const RecurrenceOptions& options) {
  return Recurrence(program, durations, options).run();
}

Trace folded(Trace trace) {
  RankClass all{0, {}};
  for (const RankClass& rank_class : trace.classes) {
    all.ranks.push_back(rank_class.representative);
  }
  trace.classes = {all};
  trace.resolution = "fold";
  std::erase_if(trace.spans, [](const TaskSpan& span) { return span.rank != 0; });
  return trace;
}

}  // namespace moesim::test
