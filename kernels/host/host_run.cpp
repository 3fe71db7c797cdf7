#include "kernels/host/host_run.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "kernels/hang.h"
#include "kernels/host/hang_report.h"

namespace moesim {
namespace {

// Between opening the gate and the first launch: all threads are awake by then.
constexpr std::chrono::milliseconds kHeadStart{3};

std::chrono::nanoseconds to_nanoseconds(Time time) {
  return std::chrono::nanoseconds(time.picoseconds() / 1000);
}

}  // namespace

HostRun::HostRun(const HostPlan& plan,
                 const HostOptions& options,
                 const Setting& setting,
                 TensorStore& tensors)
    : plan_(plan),
      options_(options),
      has_real_time_(setting.has_real_time),
      transport_(setting.transport),
      tensors_(tensors),
      num_active_(static_cast<int>(plan.ranks.size())),
      links_(plan.link_rates),
      ranks_(plan.script.ranks.size()),
      meetings_(plan.script.meetings.size()) {
  for (const int rank : plan.ranks) {
    const RankScript& script = plan.script.ranks[rank];
    ranks_[rank].tasks.resize(script.tasks.size());
    ranks_[rank].lanes = std::vector<LaneState>(script.lanes.size());
    ranks_[rank].queues.resize(script.num_queues);
    num_left_ += static_cast<int>(script.tasks.size());
    num_threads_ += 1 + static_cast<int>(script.lanes.size());
  }
  for (size_t i = 0; i < meetings_.size(); ++i) {
    meetings_[i].arrived.resize(plan.script.meetings[i].tasks.size());
    meetings_[i].left.resize(plan.script.meetings[i].tasks.size());
  }
}

void HostRun::launch(int rank) {
  Lock lock(mutex_);
  try {
    enter(lock);
    launch_all(lock, rank);
    count_active(-1);
  } catch (const Stopped&) {
  } catch (...) {
    fail(std::current_exception());
  }
}

void HostRun::work(int rank, int lane) {
  Lock lock(mutex_);
  try {
    enter(lock);
    for (const int position : plan_.script.ranks[rank].lanes[lane]) {
      run_task(lock, rank, position);
    }
  } catch (const Stopped&) {
  } catch (...) {
    if (!lock.owns_lock()) {
      lock.lock();
    }
    fail(std::current_exception());
  }
}

void HostRun::supervise() {
  Lock lock(mutex_);
  supervisor_.wait(lock, [&] { return num_entered_ == num_threads_; });
  try {
    open(lock);
    Watch watch;
    const auto is_over = [&] { return stop_ || num_left_ == 0; };
    while (!supervisor_.wait_for(lock, to_nanoseconds(options_.patience), is_over)) {
      look_around(watch);
    }
    if (transport_ != nullptr && !stop_) {
      transport_->watch(standstill(clock_.now(), Time::max()));
    }
  } catch (...) {
    if (!lock.owns_lock()) {
      lock.lock();
    }
    fail(std::current_exception());
  }
}

void HostRun::open(Lock& lock) {
  MonotonicTime zero = std::chrono::steady_clock::now() + kHeadStart;
  if (transport_ != nullptr) {
    lock.unlock();
    zero = transport_->agree_on_start();
    lock.lock();
  }
  clock_ = RunClock(zero);
  lateness_ = std::max(Time::zero(), clock_.now());
  is_open_ = true;
  gate_.notify_all();
}

// Throws Hang where nothing can go on any more.
void HostRun::look_around(Watch& watch) {
  const Time now = clock_.now();
  if (transport_ == nullptr) {
    if (is_stuck()) {
      throw Hang(describe_hang(*plan_.program, plan_.script, arrived()));
    }
  } else if (watch.num_changes == num_changes_ && is_stuck()) {
    transport_->watch(standstill(watch.since, now));
  } else {
    watch = {now, num_changes_};
    transport_->watch(std::nullopt);
  }
}

void HostRun::count_active(int change) {
  num_active_ += change;
  ++num_changes_;
}

void HostRun::enter(Lock& lock) {
  if (++num_entered_ == num_threads_) {
    supervisor_.notify_all();
  }
  wait(lock, gate_, [&] { return is_open_; });
}

void HostRun::fail(std::exception_ptr error) {
  if (!error_) {
    error_ = std::move(error);
  }
  stop();
  if (transport_ != nullptr) {
    transport_->fail(error_);
  }
}

void HostRun::stop() {
  stop_ = true;
  supervisor_.notify_all();
  gate_.notify_all();
  for (RankState& rank : ranks_) {
    rank.host_changed.notify_all();
    for (LaneState& lane : rank.lanes) {
      lane.changed.notify_all();
    }
  }
  for (MeetingState& meeting : meetings_) {
    meeting.changed.notify_all();
  }
}

// `host` is the time up to which the rank's host has launched.
void HostRun::launch_all(Lock& lock, int rank) {
  sleep(lock, Time::zero());
  Moment host;
  const std::vector<ScriptTask>& script = plan_.script.ranks[rank].tasks;
  for (int position = 0; position < static_cast<int>(script.size()); ++position) {
    const ScriptTask& entry = script[position];
    if (entry.lane == kNone) {
      wait_on_host(lock, rank, position, host);
      continue;
    }
    pace_launch(lock, entry, host);
    TaskState& state = ranks_[rank].tasks[position];
    state.launched = {counts_as(host.actual), host.undelayed};
    state.is_launched = true;
    if (is_anchored()) {
      host = state.launched;
    }
    if (is_ready(rank, entry.lane)) {
      ranks_[rank].lanes[entry.lane].changed.notify_one();
    }
  }
}

// Launches keep their pace: a host that wakes up late catches up, as its delay is this machine's.
void HostRun::pace_launch(Lock& lock, const ScriptTask& entry, Moment& host) {
  if (!entry.passes_by && !is_raw() && options_.launch_overhead > Time::zero()) {
    host.actual += options_.launch_overhead;
    host.undelayed += options_.launch_overhead;
    sleep(lock, host.actual);
  }
}

void HostRun::wait_on_host(Lock& lock, int rank, int position, Moment& host) {
  RankState& state = ranks_[rank];
  TaskState& task = state.tasks[position];
  task.launched = task.start = {counts_as(host.actual), host.undelayed};
  task.transfer = task.start.actual;
  task.is_launched = true;
  state.host_waits_at = position;
  count_active(-1);
  wait(lock, state.host_changed, [&] { return waits_are_over(rank, position); });
  count_active(1);
  state.host_waits_at = kNone;
  host = latest(task.start, waits_end(rank, position));
  host.actual = counts_as(host.actual);
  finish(rank, position, host);
}

void HostRun::run_task(Lock& lock, int rank, int position) {
  begin(lock, rank, position);
  const bool meets = plan_.script.ranks[rank].tasks[position].meeting != kNone;
  const Moment end = meets ? meet(lock, rank, position) : run_alone(lock, rank, position);
  count_active(-1);
  finish(rank, position, end);
}

void HostRun::begin(Lock& lock, int rank, int position) {
  const ScriptTask& entry = plan_.script.ranks[rank].tasks[position];
  RankState& state = ranks_[rank];
  LaneState& lane = state.lanes[entry.lane];
  wait(lock, lane.changed, [&] { return is_ready(rank, entry.lane); });
  count_active(1);
  delay(lock, rank, position);
  hold(lock, rank, position);
  TaskState& task = state.tasks[position];
  QueueState& queue = state.queues[entry.queue];
  const Moment due =
      latest(latest(task.launched, lane.end), latest(waits_end(rank, position), queue.last_start));
  task.start = {counts_as(due.actual), due.undelayed};
  task.transfer = task.start.actual;
  queue.last_start = task.start;
  ++queue.num_started;
  ++lane.next;
  wake(rank);
}

void HostRun::finish(int rank, int position, const Moment& end) {
  const ScriptTask& entry = plan_.script.ranks[rank].tasks[position];
  RankState& state = ranks_[rank];
  state.tasks[position].end = end;
  state.tasks[position].is_done = true;
  if (entry.lane != kNone) {
    state.lanes[entry.lane].end = end;
  }
  wake(rank);
  if (--num_left_ == 0) {
    supervisor_.notify_all();
  }
}

// Those of the rank's threads whose turn it is. One that is at work looks for itself afterwards.
void HostRun::wake(int rank) {
  RankState& state = ranks_[rank];
  for (int lane = 0; lane < static_cast<int>(state.lanes.size()); ++lane) {
    if (is_ready(rank, lane)) {
      state.lanes[lane].changed.notify_one();
    }
  }
  if (state.host_waits_at != kNone && waits_are_over(rank, state.host_waits_at)) {
    state.host_changed.notify_one();
  }
}

bool HostRun::waits_are_over(int rank, int position) const {
  const std::vector<int>& waits = plan_.script.ranks[rank].tasks[position].waits;
  return std::all_of(
      waits.begin(), waits.end(), [&](int wait) { return ranks_[rank].tasks[wait].is_done; });
}

// Whether the next task of the stream may start.
bool HostRun::is_ready(int rank, int lane) const {
  const std::vector<int>& positions = plan_.script.ranks[rank].lanes[lane];
  const RankState& state = ranks_[rank];
  const size_t next = state.lanes[lane].next;
  if (next == positions.size() || (next > 0 && !state.tasks[positions[next - 1]].is_done)) {
    return false;
  }
  const ScriptTask& entry = plan_.script.ranks[rank].tasks[positions[next]];
  return state.tasks[positions[next]].is_launched &&
         state.queues[entry.queue].num_started == entry.place_in_queue &&
         waits_are_over(rank, positions[next]);
}

Moment HostRun::waits_end(int rank, int position) const {
  Moment end;
  for (const int wait : plan_.script.ranks[rank].tasks[position].waits) {
    end = latest(end, ranks_[rank].tasks[wait].end);
  }
  return end;
}

void HostRun::sleep(Lock& lock, Time until) {
  if (clock_.now() < until) {
    lock.unlock();
    sleep_until(clock_.at(until), stop_);
    lock.lock();
  }
  if (stop_) {
    throw Stopped();
  }
}

// What is due at a time has come now: when it counts as having come.
Time HostRun::counts_as(Time due) const {
  const Time now = clock_.now();
  return is_anchored() && now - due <= options_.overrun ? due : now;
}

// The end of what has just ended. Without a planned end, now is as good as any.
Time HostRun::end_of(std::optional<Time> planned) {
  const Time now = clock_.now();
  if (!planned) {
    return now;
  }
  lateness_ = std::max(lateness_, now - *planned);
  return counts_as(*planned);
}

}  // namespace moesim
