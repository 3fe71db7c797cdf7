#include "sim/analysis/critical_path.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "sim/analysis/trace_index.h"
#include "sim/base/check.h"

namespace moesim {
namespace {

// What can bind something later: a span's end, its local start, or the end of its launch.
enum class Moment { kEnd, kStart, kLaunched };

struct Event {
  Moment moment = Moment::kEnd;
  int span = kNone;
  Time time;
};

// Steps from the iteration's end backwards. Each `reach` closes the gap between the earliest
// moment known so far and an earlier one.
class Steps {
 public:
  explicit Steps(Time end) : cursor_(end) {}

  // Clocks of a measured trace may show a cause after its effect: such a step has no length.
  void reach(Time time, StepKind kind, int span) {
    const Time begin = std::min(time, cursor_);
    if (begin == cursor_) {
      return;
    }
    if (kind != StepKind::kTask && !steps_.empty() && steps_.back().kind == kind) {
      steps_.back().begin = begin;
    } else {
      steps_.push_back({kind, span, begin, cursor_});
    }
    cursor_ = begin;
  }

  std::vector<CriticalStep> in_time_order() && {
    std::reverse(steps_.begin(), steps_.end());
    return std::move(steps_);
  }

 private:
  Time cursor_;
  std::vector<CriticalStep> steps_;
};

// Streams map to a GPU's hardware queues in order of first use, modulo their number; within a
// queue no task starts before every earlier launched one has. [task]: the one launched before it
// in its queue, kNone for the first.
std::vector<int> launched_before_in_queue(const Program& program,
                                          const LaunchOrder& order,
                                          int hardware_queues) {
  CHECK(hardware_queues > 0);
  std::vector<int> before(program.tasks.size(), kNone);
  std::vector<int> queue_of_stream(program.streams.size(), kNone);
  std::vector<int> last(hardware_queues, kNone);
  int num_streams = 0;
  for (const int task : order.tasks) {
    const int stream = program.tasks[task].stream;
    if (stream == kNone) {
      continue;
    }
    int& queue = queue_of_stream[stream];
    queue = queue == kNone ? num_streams++ % hardware_queues : queue;
    before[task] = std::exchange(last[queue], task);
  }
  return before;
}

class Walk {
 public:
  Walk(const Program& program, const Trace& trace, int hardware_queues)
      : program_(program), trace_(trace), index_(program, trace), steps_(trace.end) {
    for (const LaunchOrder& order : index_.orders()) {
      before_in_queue_.push_back(launched_before_in_queue(program, order, hardware_queues));
    }
  }

  std::vector<CriticalStep> run() && {
    // Happens-before has no circle: the walk passes each moment of a span at most once.
    std::size_t left = 3 * trace_.spans.size();
    for (std::optional<Event> event = last_end(); event; event = before(*event)) {
      CHECK(left-- > 0, "the spans of {} wait for each other in a circle", program_.name);
    }
    steps_.reach(Time::zero(), StepKind::kIdle, kNone);
    return std::move(steps_).in_time_order();
  }

 private:
  const Task& task_of(int span) const { return program_.tasks[trace_.spans[span].task]; }
  bool is_host_wait(int span) const {
    return std::holds_alternative<HostWait>(task_of(span).descriptor);
  }

  Event end_of(int span) const { return {Moment::kEnd, span, trace_.spans[span].end}; }
  Event start_of(int span) const { return {Moment::kStart, span, trace_.spans[span].start}; }
  Event launch_of(int span) const { return {Moment::kLaunched, span, trace_.spans[span].launched}; }

  // The span that ends the iteration. Of several, the first task, then the lowest rank.
  std::optional<Event> last_end() {
    std::optional<Event> last;
    const auto order = [this](int span) {
      return std::pair(trace_.spans[span].task, trace_.spans[span].rank);
    };
    for (int span = 0; span < static_cast<int>(trace_.spans.size()); ++span) {
      const Event end = end_of(span);
      const bool tie = last && end.time == last->time;
      if (!last || end.time > last->time || (tie && order(span) < order(last->span))) {
        last = end;
      }
    }
    if (last) {
      steps_.reach(last->time, StepKind::kIdle, kNone);
    }
    return last;
  }

  // What bound an event; the time between the two becomes a step.
  std::optional<Event> before(const Event& event) {
    switch (event.moment) {
      case Moment::kEnd:
        return before_end(event.span);
      case Moment::kStart:
        return before_start(event.span);
      case Moment::kLaunched:
        return before_launch(event.span);
    }
    return std::nullopt;
  }

  std::optional<Event> before_end(int span) {
    if (is_host_wait(span)) {
      return before_start(span);  // it does nothing: it ends with the last of its causes
    }
    steps_.reach(trace_.spans[span].transfer, StepKind::kTask, span);
    const bool is_collective = collective_of(task_of(span)) != nullptr;
    const Event start = is_collective ? last_arrival(span) : start_of(span);
    steps_.reach(start.time, StepKind::kStragglerWait, span);
    return start;
  }

  // The member that started last, not after the transfer; the span's own rank where several did.
  Event last_arrival(int span) const {
    Event last = start_of(span);
    for (const int member : index_.members(span)) {
      const Event arrival = start_of(member);
      if (arrival.time > last.time && arrival.time <= trace_.spans[span].transfer) {
        last = arrival;
      }
    }
    return last;
  }

  // The latest of all that a task waits for. Of several at once the first counts: dependences say
  // more than streams, streams more than queues and launches.
  std::optional<Event> before_start(int span) {
    std::vector<Event> causes = dependences(span);
    if (index_.before_on_stream(span) != kNone) {
      causes.push_back(end_of(index_.before_on_stream(span)));
    }
    if (const int ahead = before_in_queue(span); ahead != kNone) {
      causes.push_back(start_of(ahead));
    }
    if (const auto launch = is_host_wait(span) ? host_before(span) : launch_of(span)) {
      causes.push_back(*launch);
    }
    if (causes.empty()) {
      return std::nullopt;
    }
    const auto earlier = [](const Event& a, const Event& b) { return a.time < b.time; };
    const Event binding = *std::max_element(causes.begin(), causes.end(), earlier);
    steps_.reach(binding.time, StepKind::kIdle, span);
    return binding;
  }

  // The span launched before it in its hardware queue, kNone for the first.
  int before_in_queue(int span) const {
    const int class_index = index_.class_of_span(span);
    const int task = before_in_queue_[index_.order_of_class(class_index)][trace_.spans[span].task];
    return task == kNone ? kNone : index_.span(class_index, task);
  }

  std::vector<Event> dependences(int span) const {
    std::vector<Event> ends;
    for (const auto* waits : {&task_of(span).waits, &task_of(span).order_only}) {
      for (const int task : *waits) {
        const int cause = index_.span(index_.class_of_span(span), task);
        if (cause != kNone) {
          ends.push_back(end_of(cause));
        }
      }
    }
    return ends;
  }

  std::optional<Event> before_launch(int span) {
    const std::optional<Event> cause = host_before(span);
    steps_.reach(cause ? cause->time : Time::zero(), StepKind::kLaunch, span);
    return cause;
  }

  // What the host did before it launched: the previous launch, or the host wait that it came to.
  std::optional<Event> host_before(int span) const {
    const int previous = index_.launched_before(span);
    if (previous == kNone) {
      return std::nullopt;
    }
    return is_host_wait(previous) ? end_of(previous) : launch_of(previous);
  }

  const Program& program_;
  const Trace& trace_;
  TraceIndex index_;
  std::vector<std::vector<int>> before_in_queue_;  // [order][task]
  Steps steps_;
};

std::string name_of(const CriticalStep& step, const Program& program, const Trace& trace) {
  switch (step.kind) {
    case StepKind::kTask:
      return program.tasks[trace.spans[step.span].task].kind;
    case StepKind::kStragglerWait:
      return "straggler_wait";
    case StepKind::kLaunch:
      return "launch";
    case StepKind::kIdle:
      return "idle";
  }
  return {};
}

}  // namespace

std::map<std::string, Time> CriticalPath::by_kind(const Program& program,
                                                  const Trace& trace) const {
  std::map<std::string, Time> sums;
  for (const CriticalStep& step : steps) {
    sums[name_of(step, program, trace)] += step.end - step.begin;
  }
  return sums;
}

CriticalPath critical_path(const Program& program, const Trace& trace, int hardware_queues) {
  CHECK(!trace.spans.empty() || trace.end == Time::zero(), "the trace was made without spans");
  CriticalPath path{Walk(program, trace, hardware_queues).run()};
  Time reached;
  for (const CriticalStep& step : path.steps) {
    CHECK(step.begin == reached && step.end > step.begin, "the steps of the path do not abut");
    reached = step.end;
  }
  CHECK(reached == trace.end, "the steps of the path do not sum to the iteration");
  return path;
}

}  // namespace moesim
