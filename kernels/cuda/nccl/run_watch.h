#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "kernels/cuda/iteration.h"
#include "kernels/cuda/nccl/communicators.h"
#include "kernels/device/device_watch.h"
#include "kernels/host/rank_peers.h"

namespace moesim {

// Watches over what one rank does together with others, on a thread of its own: nothing on a device
// or in NCCL ends by itself when a peer dies or never comes. It looks for errors of communicators,
// tells the peers when the rank stands still, and hears what ended the run elsewhere; then it
// aborts the rank's communicators, which ends what the issuing thread waits for.
class RunWatch {
 public:
  struct Parts {
    const DeviceScript& script;
    const EventTable& events;
    Communicators& communicators;
    RankPeers& peers;
    int device = 0;
    Time patience;
  };
  // Keeps the references.
  explicit RunWatch(const Parts& parts) : parts_(parts) {}

  // What an iteration and its carrier tell.
  IssueHooks hooks();
  void set_host_waits(bool waits);

  enum class Subject {
    kIteration,  // whose tasks are followed
    kTogether    // something else that all ranks do
  };

  // Does `body`, watched. Throws what ended it: its own exception, an NcclError of a communicator,
  // a Hang, or what ended the run on another rank. All ranks hear of it.
  void guard(Subject subject, const std::function<void()>& body);

 private:
  // How much of a task's events has been recorded in this iteration.
  enum class Recorded { kNothing, kStart, kEnd };

  void begin(Subject subject);
  void watch();
  void look_around();
  void see_tasks();
  bool see_task(int position);
  void set_recorded(const ScriptPlace& place, Recorded recorded);
  void fail(std::exception_ptr error);

  Parts parts_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Subject subject_ = Subject::kTogether;
  bool is_over_ = false;
  std::exception_ptr error_;
  RunClock clock_;
  std::optional<DeviceWatch> tasks_;
  std::vector<Recorded> recorded_;     // by position
  std::vector<size_t> first_of_lane_;  // that has not ended
};

}  // namespace moesim
