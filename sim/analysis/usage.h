#pragma once

#include <map>
#include <optional>
#include <string>

#include "sim/base/time.h"
#include "sim/io/program.h"
#include "sim/io/trace.h"

namespace moesim {

// Means over all ranks (classes weighted by their size), rounded down to whole picoseconds. Each is
// a length of time: moments in which two tasks qualify count once.
struct Usage {
  // By stream: time in which one of its tasks runs. A collective runs from when all of its group
  // have started it: waiting for them is no work. Every stream is there, also an idle one.
  std::map<std::string, Time> busy;
  // Time in which a collective has started on the rank but not on all of its group, SHIFTs between
  // stages aside.
  Time straggler_wait;
  // Time in which a SHIFT that does not wrap, as between stages, waits for the other rank, and this
  // one neither computes nor moves data; nothing where the Program has none. A receiver starts it
  // long before: while it does something else nobody is late.
  std::optional<Time> stage_wait;
  // Time in which a collective moves data while the rank computes nothing, whatever its streams
  // are called.
  Time exposed_communication;
  // Time in which a task other than a collective runs.
  Time computing;
};

Usage usage(const Program& program, const Trace& trace);

}  // namespace moesim
