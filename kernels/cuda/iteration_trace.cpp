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
    for (int position = 0; position < static_cast<int>(launched_[rank].size()); ++position) {
      own.push_back(span({rank, position}));
    }
  }
  join_starts(spans);
  std::vector<TaskSpan> all;
  for (const std::vector<TaskSpan>& own : spans) {
    all.insert(all.end(), own.begin(), own.end());
  }
  return trace_of_spans(*parts_.script.program, std::move(all));
}

// The host's clock and the device's are two: what was launched after it started was launched when
// it started.
TaskSpan Iteration::span(const ScriptPlace& place) const {
  TaskSpan span;
  span.rank = place.rank;
  span.task = entry(place).task;
  if (entry(place).lane == kNone) {
    span.end = end_of_waits(place);
    span.start = std::min(launched_[place.rank][place.position], span.end);
  } else {
    span.start = parts_.events.time_of(parts_.events.at(place).start);
    span.end = parts_.events.time_of(parts_.events.at(place).end);
  }
  span.transfer = span.start;
  span.launched = std::min(launched_[place.rank][place.position], span.start);
  return span;
}

Time Iteration::end_of_waits(const ScriptPlace& place) const {
  Time end;
  for (const int wait : entry(place).waits) {
    const ScriptPlace earlier{place.rank, wait};
    end = std::max(end,
                   entry(earlier).lane == kNone
                       ? end_of_waits(earlier)
                       : parts_.events.time_of(parts_.events.at(earlier).end));
  }
  return end;
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
