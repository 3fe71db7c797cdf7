// What the events of an iteration say.
#include <algorithm>
#include <utility>

#include "kernels/cuda/iteration.h"
#include "kernels/host/span_trace.h"

namespace moesim {

Trace Iteration::trace() const {
  std::vector<std::vector<TaskSpan>> spans;
  for (int rank = 0; rank < static_cast<int>(launched_.size()); ++rank) {
    std::vector<TaskSpan>& own = spans.emplace_back();
    Time host;  // when it came out of its last wait
    for (int position = 0; position < static_cast<int>(launched_[rank].size()); ++position) {
      const ScriptPlace place{rank, position};
      if (entry(place).lane != kNone) {
        own.push_back(stream_span(place));
        continue;
      }
      for (const int wait : entry(place).waits) {
        host = std::max(host, own[wait].end);
      }
      own.push_back(span(place, {host, host}));
    }
  }
  join_starts(spans);
  std::vector<TaskSpan> all;
  for (const std::vector<TaskSpan>& own : spans) {
    all.insert(all.end(), own.begin(), own.end());
  }
  return trace_of_spans(*parts_.script.program, std::move(all));
}

TaskSpan Iteration::stream_span(const ScriptPlace& place) const {
  const TaskEvents& events = parts_.events.at(place);
  return span(place, {parts_.events.time_of(events.start), parts_.events.time_of(events.end)});
}

// The host's clock and the device's are two: what was launched after it started was launched when
// it started. How long the host waited no event tells: a host wait is a moment.
TaskSpan Iteration::span(const ScriptPlace& place, const Interval& interval) const {
  return {.rank = place.rank,
          .task = entry(place).task,
          .launched = std::min(launched_[place.rank][place.position], interval.start),
          .start = interval.start,
          .transfer = interval.start,
          .end = interval.end};
}

// A collective moves data when its last member has started.
void Iteration::join_starts(std::vector<std::vector<TaskSpan>>& spans) const {
  for (const Issue& issue : parts_.script.order) {
    Time last;
    for (const ScriptPlace& place : issue.places) {
      last = std::max(last, spans[place.rank][place.position].start);
    }
    for (const ScriptPlace& place : issue.places) {
      TaskSpan& span = spans[place.rank][place.position];
      span.transfer = std::min(last, span.end);
    }
  }
}

}  // namespace moesim
