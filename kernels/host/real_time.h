#pragma once

#include <atomic>
#include <chrono>

#include "sim/base/time.h"

namespace moesim {

// The clock that nobody sets (CLOCK_MONOTONIC).
using MonotonicTime = std::chrono::steady_clock::time_point;

// Times of a run: the monotonic clock, counted from `zero`.
class RunClock {
 public:
  RunClock() = default;
  explicit RunClock(MonotonicTime zero) : zero_(zero) {}

  Time now() const;
  MonotonicTime at(Time time) const;  // rounded up to nanoseconds

 private:
  MonotonicTime zero_{};
};

// The CPU time that the calling thread has used: waiting for a core does not count.
Time thread_cpu_time();

// Sleeps until then, or until soon after `stop` became true.
void sleep_until(MonotonicTime time, const std::atomic<bool>& stop);

// Lets the calling thread's timers expire on time (no slack) and, where `real_time` asks for it and
// the system allows it, makes the thread run as soon as it wakes up (SCHED_FIFO). True where it
// does.
bool prepare_thread(bool real_time);

// Lowers the real-time priority of the calling thread for a while: computing must not keep others
// from waking up on time, nor other processes keep it from computing.
class ComputingPriority {
 public:
  explicit ComputingPriority(bool has_real_time);
  ~ComputingPriority();
  ComputingPriority(const ComputingPriority&) = delete;
  ComputingPriority& operator=(const ComputingPriority&) = delete;
  ComputingPriority(ComputingPriority&&) = delete;
  ComputingPriority& operator=(ComputingPriority&&) = delete;

 private:
  bool has_real_time_;
};

}  // namespace moesim
