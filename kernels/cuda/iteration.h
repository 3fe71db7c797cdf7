#pragma once

#include <functional>
#include <vector>

#include "kernels/cuda/collective_carrier.h"
#include "kernels/cuda/step_launcher.h"
#include "kernels/cuda/task_events.h"
#include "kernels/cuda/task_streams.h"
#include "kernels/host/real_time.h"
#include "sim/io/trace.h"

namespace moesim {

// Who wants to know how far an iteration has been issued; each may be empty.
struct IssueHooks {
  std::function<void(const ScriptPlace&)> begun;   // the task's start is recorded
  std::function<void(const ScriptPlace&)> issued;  // its end, too; a host wait: it is over
  std::function<void(bool)> host_waits;            // for the device, from now on or no longer
};

// What an iteration is put together from; it keeps references.
struct IterationParts {
  const DeviceScript& script;
  const DeviceProgram& program;
  const StepLauncher& launcher;
  TaskStreams& streams;
  const EventTable& events;
  CollectiveCarrier& carrier;
  IssueHooks hooks{};
};

// One iteration of a Program on a device's streams.
class Iteration {
 public:
  explicit Iteration(const IterationParts& parts);

  // Puts all tasks on their streams, in the order of the script, behind what is on the main stream;
  // what comes later on that stream waits for all of them. Waits only where a Program's host does.
  void issue();

  // The same into a graph, which launches an iteration as often as one likes. For Programs without
  // host waits.
  Graph capture();

  // When the main stream is idle again.
  Trace trace() const;

 private:
  struct Interval {
    Time start;
    Time end;
  };

  void issue_all();
  void issue(const Issue& issue);
  void begin(const ScriptPlace& place);
  void run(const Issue& issue);
  void end(const ScriptPlace& place);
  void wait_on_host(const ScriptPlace& place);
  // An event whose time is asked for later.
  void record_time(const Event& event, cudaStream_t stream) const;

  const ScriptTask& entry(const ScriptPlace& place) const;
  const LaunchPlace& launch_place(const ScriptPlace& place) const;
  TaskSpan stream_span(const ScriptPlace& place) const;
  TaskSpan span(const ScriptPlace& place, const Interval& interval) const;
  void join_starts(std::vector<std::vector<TaskSpan>>& spans) const;

  IterationParts parts_;
  bool is_capturing_ = false;
  RunClock clock_;
  std::vector<std::vector<Time>> launched_;  // [rank][position]
};

}  // namespace moesim
