// The part of a run that concerns collectives. Members meet; the last one plans the transfer; each
// moves the rows of its own memory, step by step; then each sleeps once, to the planned end.
#include <algorithm>

#include "kernels/host/host_run.h"

namespace moesim {

Moment HostRun::meet(Lock& lock, int rank, int position) {
  if (transport_ != nullptr) {
    return meet_elsewhere(lock, rank, position);
  }
  const ScriptTask& entry = plan_.script.ranks[rank].tasks[position];
  TaskState& task = ranks_[rank].tasks[position];
  MeetingState& meeting = meetings_[entry.meeting];
  arrive(lock, entry, task.start);
  task.transfer = meeting.transfer;
  move_rows(lock, entry);
  await_end(lock, entry);
  const Time end = end_of(meeting.end);
  const Time duration = meeting.end.value_or(end) - meeting.transfer;
  has_planned_ = has_planned_ || meeting.end.has_value();
  leave(entry);
  return {end, meeting.last_start.undelayed + duration};
}

// Among processes. When the last member started is known when all traces are together: what it was
// delayed by is not.
Moment HostRun::meet_elsewhere(Lock& lock, int rank, int position) {
  const ScriptTask& entry = plan_.script.ranks[rank].tasks[position];
  MeetingState& meeting = meetings_[entry.meeting];
  meeting.arrived[entry.member] = true;
  count_active(-1);
  lock.unlock();
  transport_->carry_out(entry.meeting, entry.member, tensors_);
  lock.lock();
  meeting.left[entry.member] = true;
  count_active(1);
  const Time end = end_of(std::nullopt);
  return {end, end};
}

void HostRun::arrive(Lock& lock, const ScriptTask& entry, const Moment& start) {
  MeetingState& meeting = meetings_[entry.meeting];
  const int size = static_cast<int>(meeting.arrived.size());
  meeting.arrived[entry.member] = true;
  meeting.last_start = latest(meeting.last_start, start);
  if (++meeting.num_arrived < size) {
    count_active(-1);  // the last one counts all in again
    wait(lock, meeting.changed, [&] { return meeting.runner != nullptr; });
    return;
  }
  count_active(size - 1);
  meeting.transfer = is_anchored() ? meeting.last_start.actual : clock_.now();
  begin_transfer(lock, entry.meeting);
  meeting.changed.notify_all();
}

// The others still wait, so the memory for the moves can be made without the lock.
void HostRun::begin_transfer(Lock& lock, int meeting) {
  MeetingState& state = meetings_[meeting];
  const MeetingPlan& plan = plan_.meetings[meeting];
  const std::vector<int>& members = plan_.script.members(*plan_.program, meeting);
  if (!plan_.link_rates.empty() && members.size() > 1) {
    links_.forget_before(is_anchored() ? state.transfer - options_.overrun : state.transfer);
    links_.add(meeting, state.transfer + plan.latency, plan.flows);
    moving_.push_back(meeting);
    std::for_each(moving_.begin(), moving_.end(), [&](int moving) { replan(moving); });
  } else if (is_anchored()) {
    state.end = state.transfer;
  }
  lock.unlock();
  auto runner = std::make_unique<MoveRunner>(plan.moves, members, tensors_);
  lock.lock();
  state.runner = std::move(runner);
}

// Those who wait for the planned end must hear when it moves.
void HostRun::replan(int meeting) {
  MeetingState& state = meetings_[meeting];
  const Time end = links_.end(meeting);
  if (state.end != end) {
    state.end = end;
    state.changed.notify_all();
  }
}

void HostRun::move_rows(Lock& lock, const ScriptTask& entry) {
  MeetingState& meeting = meetings_[entry.meeting];
  const int size = static_cast<int>(meeting.arrived.size());
  const size_t num_steps = plan_.meetings[entry.meeting].moves.steps.size();
  for (size_t step = 0; step < num_steps; ++step) {
    wait(lock, meeting.changed, [&] { return meeting.num_steps_done == step; });
    lock.unlock();
    meeting.runner->run_step(static_cast<int>(step), entry.member);
    lock.lock();
    if (++meeting.num_through_step < size) {
      continue;
    }
    meeting.num_through_step = 0;
    ++meeting.num_steps_done;
    // After the last step the others sleep to the planned end, unless it has passed.
    if (meeting.num_steps_done < num_steps || !meeting.end || *meeting.end <= clock_.now()) {
      meeting.changed.notify_all();
    }
  }
}

void HostRun::await_end(Lock& lock, const ScriptTask& entry) {
  MeetingState& meeting = meetings_[entry.meeting];
  const size_t num_steps = plan_.meetings[entry.meeting].moves.steps.size();
  while (!stop_) {
    if (meeting.end && clock_.now() < *meeting.end) {
      meeting.changed.wait_until(lock, clock_.at(*meeting.end));
    } else if (meeting.num_steps_done < num_steps) {
      meeting.changed.wait(lock);
    } else {
      return;
    }
  }
  throw Stopped();
}

void HostRun::leave(const ScriptTask& entry) {
  MeetingState& meeting = meetings_[entry.meeting];
  if (++meeting.num_left == static_cast<int>(meeting.arrived.size())) {
    meeting.runner.reset();
    std::erase(moving_, entry.meeting);
  }
}

}  // namespace moesim
