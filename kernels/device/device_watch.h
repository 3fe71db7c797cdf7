#pragma once

#include <optional>
#include <vector>

#include "kernels/host/host_script.h"
#include "kernels/host/transport.h"
#include "sim/base/time.h"

namespace moesim {

// How far a task has come on its stream.
enum class TaskProgress { kWaiting, kBegun, kEnded };

// Decides whether the ranks that one process runs on its devices stand still. It knows no clock and
// no device: it is told what was seen of tasks, and what time it is. A collective that goes on and
// one whose peers never come look the same from here; processes find out together (HangDetector).
//
// For one thread at a time.
class DeviceWatch {
 public:
  // `patience`: how long nothing may change. Keeps a reference to the script.
  DeviceWatch(const HostScript& script, std::vector<int> ranks, Time patience);

  // What was seen of a task of the rank; tasks do not go back. One that passes by ends without
  // being seen.
  void see(int rank, int position, TaskProgress progress);

  // Whether the host that issues the rank's tasks waits for devices or peers, or has issued all. At
  // first it works.
  void set_host_waits(int rank, bool waits);

  // To be called now and then. A standstill where nothing has changed for the patience, all hosts
  // wait and nothing but collectives has begun; for good when all tasks have ended.
  std::optional<Standstill> look(Time now);

 private:
  struct RankWatch {
    std::vector<TaskProgress> tasks;  // by position
    bool host_waits = false;
    int num_left = 0;     // tasks that have not ended
    int num_working = 0;  // begun tasks that need nobody else
  };

  bool is_over() const;
  bool can_go_on_alone() const;
  Standstill standstill(Time from, Time to) const;

  const HostScript& script_;
  std::vector<int> ranks_;
  Time patience_;
  std::vector<RankWatch> watched_;  // by rank of the Program
  bool has_changed_ = true;
  Time since_;
};

}  // namespace moesim
