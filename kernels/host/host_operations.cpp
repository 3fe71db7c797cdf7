// The part of a run that concerns one rank alone.
#include <algorithm>
#include <variant>

#include "kernels/host/host_run.h"
#include "sim/base/random.h"
#include "sim/program/variation.h"

namespace moesim {

// Every other task, on average.
void HostRun::delay(Lock& lock, int rank, int position) {
  if (!options_.delays) {
    return;
  }
  const auto num_tasks = static_cast<uint64_t>(plan_.program->tasks.size());
  Random random(options_.delays->seed, static_cast<uint64_t>(rank) * num_tasks + position);
  if (random.uniform() < 0.5) {
    sleep(lock, clock_.now() + options_.delays->longest.scaled(random.uniform()));
  }
}

// Whoever ends a task wakes the lanes that are ready: also this one.
void HostRun::hold(Lock& lock, int rank, int position) {
  const std::vector<ScriptTask>& script = plan_.script.ranks[rank].tasks;
  if (!options_.hold || script[position].task != options_.hold->task) {
    return;
  }
  const auto until = std::find_if(script.begin() + position, script.end(), [&](const auto& entry) {
    return entry.task == options_.hold->until;
  });
  if (until == script.end()) {
    return;
  }
  const TaskState& later = ranks_[rank].tasks[until - script.begin()];
  LaneState& lane = ranks_[rank].lanes[script[position].lane];
  lane.changed.wait_until(lock, clock_.at(clock_.now() + options_.hold->longest), [&] {
    return stop_ || later.is_done;
  });
  if (stop_) {
    throw Stopped();
  }
}

Moment HostRun::run_alone(Lock& lock, int rank, int position) {
  const Moment start = ranks_[rank].tasks[position].start;
  const std::optional<Time> duration = operate(lock, rank, position);
  if (duration) {
    has_planned_ = has_planned_ || *duration > Time::zero();
    sleep(lock, start.actual + *duration);
    return {end_of(start.actual + *duration), start.undelayed + *duration};
  }
  const Time end = end_of(std::nullopt);
  return {end, start.undelayed + (end - start.actual)};
}

// How long the task is to take; nothing where it takes what it takes. Computes.
std::optional<Time> HostRun::operate(Lock& lock, int rank, int position) {
  const ScriptTask& entry = plan_.script.ranks[rank].tasks[position];
  const Operation* operation = plan_.operations[rank][position].get();
  if (operation == nullptr) {
    if (is_raw()) {
      return std::nullopt;
    }
    const auto* fixed = std::get_if<Fixed>(&task_of(entry).descriptor);
    const Time time = fixed == nullptr ? Time::zero() : fixed->time;
    const std::vector<double>& scale = plan_.program->rank_scale;
    return scale.empty() ? time : time.scaled(scale[rank]);
  }
  lock.unlock();
  Time cpu_time;
  {
    const ComputingPriority priority(has_real_time_);
    const Time before = thread_cpu_time();
    operation->run(tensors_);
    cpu_time = thread_cpu_time() - before;
  }
  lock.lock();
  if (is_raw()) {
    return std::nullopt;
  }
  if (!plan_.operation_times.empty()) {
    return plan_.operation_times[rank][position];
  }
  const double stretch =
      std::max(1.0, options_.dilation) * slowdown(*plan_.program, task_of(entry), rank);
  return stretch <= 1 ? std::nullopt : std::optional<Time>(cpu_time.scaled(stretch));
}

}  // namespace moesim
