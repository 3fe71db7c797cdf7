#include "kernels/host/real_time.h"

#include <algorithm>
#include <cerrno>
#include <ctime>

#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>

namespace moesim {
namespace {

constexpr int64_t kPicosecondsPerNanosecond = 1000;
constexpr int64_t kNanosecondsPerSecond = 1'000'000'000;
constexpr int kRealTimePriority = 10;
constexpr int kComputingPriority = 5;

// A sleeper looks up so often to see whether the run was stopped.
constexpr std::chrono::milliseconds kSlice{100};

timespec to_timespec(MonotonicTime time) {
  const int64_t count = std::chrono::nanoseconds(time.time_since_epoch()).count();
  return {count / kNanosecondsPerSecond, count % kNanosecondsPerSecond};
}

bool set_scheduling(int policy, int priority) {
  sched_param parameters{};
  parameters.sched_priority = priority;
  return pthread_setschedparam(pthread_self(), policy, &parameters) == 0;
}

}  // namespace

Time RunClock::now() const {
  const std::chrono::nanoseconds elapsed = std::chrono::steady_clock::now() - zero_;
  return Time::from_picoseconds(elapsed.count()) * kPicosecondsPerNanosecond;
}

MonotonicTime RunClock::at(Time time) const {
  const int64_t picoseconds = time.picoseconds() + kPicosecondsPerNanosecond - 1;
  return zero_ + std::chrono::nanoseconds(picoseconds / kPicosecondsPerNanosecond);
}

Time thread_cpu_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return Time::from_picoseconds(time.tv_sec * kNanosecondsPerSecond + time.tv_nsec) *
         kPicosecondsPerNanosecond;
}

void sleep_until(MonotonicTime time, const std::atomic<bool>& stop) {
  for (MonotonicTime now = std::chrono::steady_clock::now(); now < time && !stop;
       now = std::chrono::steady_clock::now()) {
    const timespec until = to_timespec(std::min<MonotonicTime>(time, now + kSlice));
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
    }
  }
}

bool prepare_thread(bool real_time) {
  prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
  return real_time && set_scheduling(SCHED_FIFO, kRealTimePriority);
}

ComputingPriority::ComputingPriority(bool has_real_time) : has_real_time_(has_real_time) {
  if (has_real_time_) {
    set_scheduling(SCHED_FIFO, kComputingPriority);
  }
}

ComputingPriority::~ComputingPriority() {
  if (has_real_time_) {
    set_scheduling(SCHED_FIFO, kRealTimePriority);
  }
}

}  // namespace moesim
