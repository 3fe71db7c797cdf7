#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/base/time.h"
#include "sim/io/program.h"
#include "sim/io/trace.h"

namespace moesim {

enum class StepKind { kTask, kStragglerWait, kLaunch, kIdle };

// One piece of the critical path: a span (index into Trace::spans) or what lies between two.
struct CriticalStep {
  StepKind kind = StepKind::kTask;
  int span = kNone;
  Time begin;
  Time end;
};

// The backward walk from the iteration's end over binding predecessors: the stream's previous task,
// a wait, the last member of a collective, an earlier launch of the same hardware queue, the host.
// Steps are in time order, abut, and sum to the iteration. `hardware_queues` as simulated.
struct CriticalPath {
  std::vector<CriticalStep> steps;

  // Seconds by task kind, plus "straggler_wait", "launch" and "idle" where they occur.
  std::map<std::string, Time> by_kind(const Program& program, const Trace& trace) const;
};

CriticalPath critical_path(const Program& program, const Trace& trace, int hardware_queues);

}  // namespace moesim
