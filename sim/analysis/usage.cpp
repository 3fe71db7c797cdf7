#include "sim/analysis/usage.h"

#include <vector>

#include "sim/analysis/intervals.h"
#include "sim/analysis/trace_index.h"
#include "sim/base/check.h"

namespace moesim {
namespace {

// What the spans of one class say, still as unsorted intervals.
struct Activity {
  std::vector<std::vector<Interval>> streams;
  std::vector<Interval> waiting;
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
    activity.streams[task.stream].push_back({span.start, span.end});
    if (collective_of(task) != nullptr) {
      activity.waiting.push_back({span.start, span.transfer});
      activity.moving.push_back({span.transfer, span.end});
    } else {
      activity.computing.push_back({span.start, span.end});
    }
  }
  return activity;
}

}  // namespace

Usage usage(const Program& program, const Trace& trace) {
  CHECK(program.num_ranks > 0);
  const TraceIndex index(program, trace);
  std::vector<Time> busy(program.streams.size());
  Usage sum;
  for (int class_index = 0; class_index < index.num_classes(); ++class_index) {
    const auto size = static_cast<std::int64_t>(trace.classes[class_index].ranks.size());
    Activity activity = activity_of(program, trace, index.launches(class_index));
    for (std::size_t stream = 0; stream < busy.size(); ++stream) {
      busy[stream] += size * total_length(merged(std::move(activity.streams[stream])));
    }
    const std::vector<Interval> moving = merged(std::move(activity.moving));
    const std::vector<Interval> computing = merged(std::move(activity.computing));
    const Time hidden = overlap(moving, computing);
    sum.straggler_wait += size * total_length(merged(std::move(activity.waiting)));
    sum.exposed_communication += size * (total_length(moving) - hidden);
    sum.computing += size * total_length(computing);
  }
  Usage mean;
  for (std::size_t stream = 0; stream < busy.size(); ++stream) {
    mean.busy[program.streams[stream]] = busy[stream] / program.num_ranks;
  }
  mean.straggler_wait = sum.straggler_wait / program.num_ranks;
  mean.exposed_communication = sum.exposed_communication / program.num_ranks;
  mean.computing = sum.computing / program.num_ranks;
  return mean;
}

}  // namespace moesim
