#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "kernels/apply_moves.h"
#include "kernels/executor.h"
#include "kernels/host/host_options.h"
#include "kernels/host/host_plan.h"
#include "kernels/host/link_manager.h"
#include "kernels/host/moment.h"
#include "kernels/host/real_time.h"
#include "kernels/host/transport.h"
#include "kernels/tensor_store.h"

namespace moesim {

// One iteration: a monitor. Everything that threads tell each other (launched, started, arrived,
// ended) is said under one mutex, and whoever changes it wakes exactly those whose turn it is.
// Computing, copying and sleeping happen outside.
//
// A launching thread for each rank calls launch(), a worker for each stream of a rank work(), and
// the thread that wants the result supervise().
class HostRun {
 public:
  // How the process runs it.
  struct Setting {
    bool has_real_time = false;
    Transport* transport = nullptr;  // none: all ranks are here
  };

  HostRun(const HostPlan& plan,
          const HostOptions& options,
          const Setting& setting,
          TensorStore& tensors);

  void launch(int rank);
  void work(int rank, int lane);

  // Starts time when all threads have entered, and waits until all tasks have ended, a thread has
  // thrown, or nothing can go on. launch() and work() then return.
  void supervise();

  // After launch() and work() have returned everywhere. Throws what a thread threw, or Hang.
  Execution result() const;

 private:
  using Lock = std::unique_lock<std::mutex>;

  // Thrown through a thread's work to end it when the run is stopped.
  struct Stopped {};

  struct TaskState {
    Moment launched;
    Moment start;
    Time transfer;
    Moment end;
    bool is_launched = false;
    bool is_done = false;
  };

  struct LaneState {
    size_t next = 0;  // of its tasks: the first that has not started
    Moment end;       // of the last task
    std::condition_variable changed;
  };

  struct QueueState {
    int num_started = 0;
    Moment last_start;
  };

  struct RankState {
    std::vector<TaskState> tasks;
    std::vector<LaneState> lanes;
    std::vector<QueueState> queues;
    int host_waits_at = kNone;  // position
    std::condition_variable host_changed;
  };

  struct MeetingState {
    std::vector<bool> arrived;  // by member
    std::vector<bool> left;     // by member, where a transport carries it out
    int num_arrived = 0;
    Moment last_start;
    Time transfer;
    std::unique_ptr<MoveRunner> runner;
    size_t num_steps_done = 0;
    int num_through_step = 0;
    int num_left = 0;
    std::optional<Time> end;  // planned
    std::condition_variable changed;
  };

  // Since when nothing has changed.
  struct Watch {
    Time since;
    int64_t num_changes = 0;
  };

  const Task& task_of(const ScriptTask& entry) const { return plan_.program->tasks[entry.task]; }
  bool is_anchored() const { return options_.clock == HostClock::kAnchored; }
  bool is_raw() const { return options_.clock == HostClock::kRaw; }

  // host_run.cpp: threads, launches, starts and ends.
  void enter(Lock& lock);
  void open(Lock& lock);
  void look_around(Watch& watch);
  void count_active(int change);
  void fail(std::exception_ptr error);
  void stop();
  void launch_all(Lock& lock, int rank);
  void wait_on_host(Lock& lock, int rank, int position, Moment& host);
  void pace_launch(Lock& lock, const ScriptTask& entry, Moment& host);
  void run_task(Lock& lock, int rank, int position);
  void begin(Lock& lock, int rank, int position);
  void finish(int rank, int position, const Moment& end);
  void wake(int rank);

  bool waits_are_over(int rank, int position) const;
  bool is_ready(int rank, int lane) const;
  Moment waits_end(int rank, int position) const;
  template <typename Predicate>
  void wait(Lock& lock, std::condition_variable& changed, const Predicate& predicate);
  void sleep(Lock& lock, Time until);
  Time counts_as(Time due) const;
  Time end_of(std::optional<Time> planned);

  // host_operations.cpp: tasks of one rank.
  void delay(Lock& lock, int rank, int position);
  void hold(Lock& lock, int rank, int position);
  Moment run_alone(Lock& lock, int rank, int position);
  std::optional<Time> operate(Lock& lock, int rank, int position);

  // host_meetings.cpp: collectives.
  Moment meet(Lock& lock, int rank, int position);
  Moment meet_elsewhere(Lock& lock, int rank, int position);
  void arrive(Lock& lock, const ScriptTask& entry, const Moment& start);
  void begin_transfer(Lock& lock, int meeting);
  void move_rows(Lock& lock, const ScriptTask& entry);
  void await_end(Lock& lock, const ScriptTask& entry);
  void leave(const ScriptTask& entry);
  void replan(int meeting);

  // host_trace.cpp
  bool is_stuck() const;
  Standstill standstill(Time from, Time to) const;
  Attendance arrived() const;
  Trace make_trace() const;
  bool is_paced() const;
  Time undelayed_end() const;

  const HostPlan& plan_;
  const HostOptions& options_;
  const bool has_real_time_;
  Transport* const transport_;
  TensorStore& tensors_;

  mutable std::mutex mutex_;
  std::condition_variable supervisor_;
  std::condition_variable gate_;
  bool is_open_ = false;
  int num_entered_ = 0;
  int num_threads_ = 0;
  int num_left_ = 0;         // tasks
  int num_active_ = 0;       // threads and tasks that go on without anybody's help
  int64_t num_changes_ = 0;  // of the number of active ones
  std::atomic<bool> stop_ = false;
  std::exception_ptr error_;
  RunClock clock_;
  Time lateness_;
  bool has_planned_ = false;  // whether anything was to last longer than nothing
  LinkManager links_;
  std::vector<RankState> ranks_;
  std::vector<MeetingState> meetings_;
  std::vector<int> moving_;  // meetings whose bytes are on the links
};

template <typename Predicate>
void HostRun::wait(Lock& lock, std::condition_variable& changed, const Predicate& predicate) {
  changed.wait(lock, [&] { return stop_ || predicate(); });
  if (stop_) {
    throw Stopped();
  }
}

}  // namespace moesim
