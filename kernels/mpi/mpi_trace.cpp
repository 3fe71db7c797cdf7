#include "kernels/mpi/mpi_trace.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "kernels/host/span_trace.h"
#include "sim/base/check.h"

namespace moesim {
namespace {

struct PackedSpan {
  int64_t rank;
  int64_t task;
  int64_t launched;
  int64_t start;
  int64_t end;
};

void append_spans(const std::string& bytes, std::vector<TaskSpan>& spans) {
  for (size_t at = sizeof(int64_t); at < bytes.size(); at += sizeof(PackedSpan)) {
    PackedSpan packed{};
    std::memcpy(&packed, bytes.data() + at, sizeof(packed));
    spans.push_back({.rank = static_cast<int>(packed.rank),
                     .task = static_cast<int>(packed.task),
                     .launched = Time::from_picoseconds(packed.launched),
                     .start = Time::from_picoseconds(packed.start),
                     .transfer = Time::from_picoseconds(packed.start),
                     .end = Time::from_picoseconds(packed.end)});
  }
}

// The meeting of each rank's tasks: [rank][task].
std::vector<std::vector<int>> meetings_of_tasks(const HostPlan& plan) {
  std::vector<std::vector<int>> meetings(plan.script.ranks.size(),
                                         std::vector<int>(plan.program->tasks.size(), kNone));
  for (size_t rank = 0; rank < meetings.size(); ++rank) {
    for (const ScriptTask& entry : plan.script.ranks[rank].tasks) {
      meetings[rank][entry.task] = entry.meeting;
    }
  }
  return meetings;
}

void set_transfers(const HostPlan& plan, std::vector<TaskSpan>& spans) {
  const std::vector<std::vector<int>> meetings = meetings_of_tasks(plan);
  std::vector<Time> last_start(plan.script.meetings.size());
  for (const TaskSpan& span : spans) {
    const int meeting = meetings[span.rank][span.task];
    if (meeting != kNone) {
      last_start[meeting] = std::max(last_start[meeting], span.start);
    }
  }
  for (TaskSpan& span : spans) {
    const int meeting = meetings[span.rank][span.task];
    if (meeting != kNone) {
      span.transfer = std::min(last_start[meeting], span.end);
    }
  }
}

}  // namespace

std::string spans_to_bytes(const Execution& execution) {
  const int64_t lateness = execution.lateness.picoseconds();
  std::string bytes(sizeof(lateness), '\0');
  std::memcpy(bytes.data(), &lateness, sizeof(lateness));
  for (const TaskSpan& span : execution.trace.spans) {
    const PackedSpan packed{span.rank,
                            span.task,
                            span.launched.picoseconds(),
                            span.start.picoseconds(),
                            span.end.picoseconds()};
    bytes.append(reinterpret_cast<const char*>(&packed), sizeof(packed));
  }
  return bytes;
}

Execution merge_runs(const HostPlan& plan, const std::vector<std::string>& runs) {
  Time latest;
  std::vector<TaskSpan> spans;
  for (const std::string& bytes : runs) {
    int64_t lateness = 0;
    CHECK(bytes.size() >= sizeof(lateness), "a run of {} bytes", bytes.size());
    std::memcpy(&lateness, bytes.data(), sizeof(lateness));
    latest = std::max(latest, Time::from_picoseconds(lateness));
    append_spans(bytes, spans);
  }
  set_transfers(plan, spans);
  return {trace_of_spans(*plan.program, std::move(spans)), latest};
}

}  // namespace moesim
