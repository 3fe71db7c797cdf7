#include "kernels/host/merged_trace.h"

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
std::vector<std::vector<int>> meetings_of_tasks(const Program& program, const HostScript& script) {
  std::vector<std::vector<int>> meetings(script.ranks.size(),
                                         std::vector<int>(program.tasks.size(), kNone));
  for (size_t rank = 0; rank < meetings.size(); ++rank) {
    for (const ScriptTask& entry : script.ranks[rank].tasks) {
      meetings[rank][entry.task] = entry.meeting;
    }
  }
  return meetings;
}

void set_transfers(const Program& program, const HostScript& script, std::vector<TaskSpan>& spans) {
  const std::vector<std::vector<int>> meetings = meetings_of_tasks(program, script);
  std::vector<Time> last_start(script.meetings.size());
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

struct Verdict {
  int64_t end = 0;
  int64_t lateness = 0;
};

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

Execution merge_runs(const Program& program,
                     const HostScript& script,
                     const std::vector<std::string>& runs) {
  Time latest;
  std::vector<TaskSpan> spans;
  for (const std::string& bytes : runs) {
    int64_t lateness = 0;
    CHECK(bytes.size() >= sizeof(lateness), "a run of {} bytes", bytes.size());
    std::memcpy(&lateness, bytes.data(), sizeof(lateness));
    latest = std::max(latest, Time::from_picoseconds(lateness));
    append_spans(bytes, spans);
  }
  set_transfers(program, script, spans);
  return {trace_of_spans(program, std::move(spans)), latest};
}

std::string verdict_of(const Execution& execution) {
  const Verdict verdict{execution.trace.end.picoseconds(), execution.lateness.picoseconds()};
  return {reinterpret_cast<const char*>(&verdict), sizeof(verdict)};
}

void take_verdict(const std::string& bytes, Execution& execution) {
  Verdict verdict;
  CHECK(bytes.size() == sizeof(verdict), "a verdict of {} bytes", bytes.size());
  std::memcpy(&verdict, bytes.data(), sizeof(verdict));
  execution.trace.end = Time::from_picoseconds(verdict.end);
  execution.lateness = Time::from_picoseconds(verdict.lateness);
}

}  // namespace moesim
