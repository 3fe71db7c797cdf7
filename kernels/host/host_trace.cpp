// What a run reports: its trace, or why it did not end.
#include <algorithm>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/host/host_run.h"

namespace moesim {

Execution HostRun::result() const {
  const std::lock_guard lock(mutex_);
  if (error_) {
    std::rethrow_exception(error_);
  }
  return {make_trace(), lateness_};
}

Trace HostRun::make_trace() const {
  Trace trace;
  for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank) {
    trace.classes.push_back({rank, {rank}});
    const RankState& state = ranks_[rank];
    for (size_t position = 0; position < state.tasks.size(); ++position) {
      const TaskState& task = state.tasks[position];
      const ScriptTask& entry = plan_.script.ranks[rank].tasks[position];
      trace.spans.push_back({.rank = rank,
                             .task = entry.task,
                             .launched = task.launched,
                             .start = task.start,
                             .transfer = task.transfer,
                             .end = task.end});
      trace.end = std::max(trace.end, task.end);
      Time& pass_end = trace.pass_end[static_cast<size_t>(task_of(entry).pass)];
      pass_end = std::max(pass_end, task.end);
    }
  }
  std::sort(trace.spans.begin(), trace.spans.end(), [](const TaskSpan& a, const TaskSpan& b) {
    return std::tie(a.start, a.task, a.rank) < std::tie(b.start, b.task, b.rank);
  });
  return trace;
}

// Exact, not a guess from how long nothing happened: nobody is at work and nobody's turn it is.
bool HostRun::is_stuck() const {
  if (num_active_ > 0) {
    return false;
  }
  for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank) {
    const RankState& state = ranks_[rank];
    for (int lane = 0; lane < static_cast<int>(state.lanes.size()); ++lane) {
      if (is_ready(rank, lane)) {
        return false;
      }
    }
    if (state.host_waits_at != kNone && waits_are_over(rank, state.host_waits_at)) {
      return false;
    }
  }
  return true;
}

std::string HostRun::describe_hang() const {
  constexpr size_t kMaxReasons = 5;
  const Program& program = *plan_.program;
  std::vector<std::string> reasons;
  for (size_t i = 0; i < meetings_.size() && reasons.size() < kMaxReasons; ++i) {
    const MeetingState& state = meetings_[i];
    if (state.num_arrived == 0 || state.num_arrived == static_cast<int>(state.arrived.size())) {
      continue;
    }
    const Meeting& meeting = plan_.script.meetings[i];
    const std::vector<int>& members = plan_.script.members(program, static_cast<int>(i));
    std::vector<int> missing;
    std::string task;
    for (size_t member = 0; member < members.size(); ++member) {
      if (!state.arrived[member]) {
        missing.push_back(members[member]);
      } else if (task.empty()) {
        task = program.tasks[meeting.tasks[member]].name;
      }
    }
    reasons.push_back(
        fmt::format("collective '{}' of group '{}', instance {} (ranks {}): rank {} did not arrive",
                    task,
                    program.groups[meeting.group].name,
                    meeting.instance,
                    fmt::join(members, ", "),
                    fmt::join(missing, ", ")));
  }
  if (reasons.empty()) {
    reasons.emplace_back("its tasks wait for each other");
  }
  return fmt::format(
      "program '{}' hangs: {}; issue the collectives of each group and stream in the "
      "same order on all its ranks",
      program.name,
      fmt::join(reasons, "; "));
}

}  // namespace moesim
