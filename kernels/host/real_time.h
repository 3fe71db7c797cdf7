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

// Gives up the real-time priority of the calling thread for a while: computing for long must not
// keep others from waking up on time.
class OrdinaryPriority {
 public:
  explicit OrdinaryPriority(bool has_real_time);
  ~OrdinaryPriority();
  OrdinaryPriority(const OrdinaryPriority&) = delete;
  OrdinaryPriority& operator=(const OrdinaryPriority&) = delete;
  OrdinaryPriority(OrdinaryPriority&&) = delete;
  OrdinaryPriority& operator=(OrdinaryPriority&&) = delete;

 private:
  bool has_real_time_;
};

}  // namespace moesim
