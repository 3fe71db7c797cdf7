#pragma once

#include <vector>

#include "kernels/cuda/handles.h"
#include "kernels/device/device_program.h"

namespace moesim {

// What is recorded around a task on its stream.
struct TaskEvents {
  Event start;  // timed
  Event end;    // timed
  Event done;   // untimed; null where neither another stream nor the host waits for the task
};

// Of all tasks of all ranks but host waits, and the iteration's begin.
class EventTable {
 public:
  explicit EventTable(const DeviceScript& script);

  const TaskEvents& at(const ScriptPlace& place) const {
    return events_[static_cast<size_t>(place.rank)][static_cast<size_t>(place.position)];
  }
  const Event& begin() const { return begin_; }

  // From the iteration's begin to an event that is over. CUDA tells milliseconds as a float: exact
  // to 2^-24 of the time, and to what the device's own clock tells apart (about half a
  // microsecond).
  Time time_of(const Event& event) const;

 private:
  Event begin_;
  std::vector<std::vector<TaskEvents>> events_;  // [rank][position]
};

}  // namespace moesim
