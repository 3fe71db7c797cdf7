// What a run reports: its trace, or that it stands still.
#include <algorithm>
#include <utility>
#include <vector>

#include "kernels/host/host_run.h"
#include "kernels/host/span_trace.h"

namespace moesim {

Execution HostRun::result() const {
  const std::lock_guard lock(mutex_);
  if (error_) {
    std::rethrow_exception(error_);
  }
  Execution execution{make_trace(), lateness_};
  if (is_paced()) {
    execution.delay = execution.trace.end - undelayed_end();
  }
  return execution;
}

// Where nothing stands for another machine's times, starting late is this one's: operations that
// take what they take, or a probe of launches.
bool HostRun::is_paced() const {
  return has_planned_ && transport_ == nullptr && !is_raw() &&
         (options_.cluster || options_.operation_time || options_.dilation > 1);
}

Time HostRun::undelayed_end() const {
  Time end;
  for (const RankState& rank : ranks_) {
    for (const TaskState& task : rank.tasks) {
      end = std::max(end, task.end.undelayed);
    }
  }
  return end;
}

Trace HostRun::make_trace() const {
  std::vector<TaskSpan> spans;
  for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank) {
    const RankState& state = ranks_[rank];
    for (size_t position = 0; position < state.tasks.size(); ++position) {
      const TaskState& task = state.tasks[position];
      spans.push_back({.rank = rank,
                       .task = plan_.script.ranks[rank].tasks[position].task,
                       .launched = task.launched.actual,
                       .start = task.start.actual,
                       .transfer = task.transfer,
                       .end = task.end.actual});
    }
  }
  return trace_of_spans(*plan_.program, std::move(spans));
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

Attendance HostRun::arrived() const {
  Attendance attendance;
  for (const MeetingState& meeting : meetings_) {
    attendance.push_back(meeting.arrived);
  }
  return attendance;
}

Standstill HostRun::standstill(Time from, Time to) const {
  Standstill standstill{.from = from, .to = to, .arrived = arrived(), .left = {}};
  for (const MeetingState& meeting : meetings_) {
    standstill.left.push_back(meeting.left);
  }
  return standstill;
}

}  // namespace moesim
