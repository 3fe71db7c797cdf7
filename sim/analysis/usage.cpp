#include "sim/analysis/usage.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "sim/analysis/intervals.h"
#include "sim/analysis/trace_index.h"
#include "sim/base/check.h"

namespace moesim {
namespace {

bool is_between_stages(const Collective& collective) {
  return collective.operation == CollectiveOperation::kShift && !collective.wrap;
}

bool has_stages(const Program& program) {
  return std::any_of(program.tasks.begin(), program.tasks.end(), [](const Task& task) {
    const Collective* collective = collective_of(task);
    return collective != nullptr && is_between_stages(*collective);
  });
}

// How long the first holds and neither of the others does. All are merged.
Time alone(const std::vector<Interval>& first,
           const std::vector<Interval>& second,
           const std::vector<Interval>& third) {
  std::vector<Interval> others = second;
  others.insert(others.end(), third.begin(), third.end());
  return total_length(first) - overlap(first, merged(std::move(others)));
}

// What the spans of one class say, still as unsorted intervals.
struct Activity {
  std::vector<std::vector<Interval>> streams;
  std::vector<Interval> waiting;
  std::vector<Interval> waiting_for_stage;
  std::vector<Interval> moving;
  std::vector<Interval> computing;
};

Activity activity_of(const Program& program, const Trace& trace, const std::vector<int>& spans) {
  Activity activity;
  activity.streams.resize(program.streams.size());
  for (const int index : spans) {
    const TaskSpan& span = trace.spans[index];
    const Task& task = program.tasks[span.task];
    if (task.stream == kNone) {
      continue;  // the host waits
    }
    const Collective* collective = collective_of(task);
    const bool between_stages = collective != nullptr && is_between_stages(*collective);
    activity.streams[task.stream].push_back({span.transfer, span.end});
    if (collective != nullptr) {
      auto& waiting = between_stages ? activity.waiting_for_stage : activity.waiting;
      waiting.push_back({span.start, span.transfer});
      activity.moving.push_back({span.transfer, span.end});
    } else {
      activity.computing.push_back({span.start, span.end});
    }
  }
  return activity;
}

// The mean over ranks of a time that is the same within a class. A million ranks of ten seconds
// each are more picoseconds than Time holds; their mean is not.
class Mean {
 public:
  void add(std::int64_t num_ranks, Time time) { sum_ += Wide{num_ranks} * time.picoseconds(); }
  Time over(int num_ranks) const {
    return Time::from_picoseconds(static_cast<std::int64_t>(sum_ / num_ranks));
  }

 private:
  __extension__ using Wide = __int128;

  Wide sum_ = 0;
};

}  // namespace

Usage usage(const Program& program, const Trace& trace) {
  CHECK(program.num_ranks > 0);
  const TraceIndex index(program, trace);
  std::vector<Mean> busy(program.streams.size());
  Mean straggler_wait;
  Mean stage_wait;
  Mean exposed_communication;
  Mean computing_time;
  for (int class_index = 0; class_index < index.num_classes(); ++class_index) {
    const auto size = static_cast<std::int64_t>(trace.classes[class_index].ranks.size());
    Activity activity = activity_of(program, trace, index.launches(class_index));
    for (std::size_t stream = 0; stream < busy.size(); ++stream) {
      busy[stream].add(size, total_length(merged(std::move(activity.streams[stream]))));
    }
    const std::vector<Interval> moving = merged(std::move(activity.moving));
    const std::vector<Interval> computing = merged(std::move(activity.computing));
    const Time hidden = overlap(moving, computing);
    straggler_wait.add(size, total_length(merged(std::move(activity.waiting))));
    stage_wait.add(size, alone(merged(std::move(activity.waiting_for_stage)), computing, moving));
    exposed_communication.add(size, total_length(moving) - hidden);
    computing_time.add(size, total_length(computing));
  }
  Usage mean;
  for (std::size_t stream = 0; stream < busy.size(); ++stream) {
    mean.busy[program.streams[stream]] = busy[stream].over(program.num_ranks);
  }
  mean.straggler_wait = straggler_wait.over(program.num_ranks);
  if (has_stages(program)) {
    mean.stage_wait = stage_wait.over(program.num_ranks);
  }
  mean.exposed_communication = exposed_communication.over(program.num_ranks);
  mean.computing = computing_time.over(program.num_ranks);
  return mean;
}

}  // namespace moesim
