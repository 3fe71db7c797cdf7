#pragma once

#include <vector>

#include "sim/base/time.h"
#include "sim/io/program.h"
#include "sim/io/trace.h"

namespace moesim::test {

struct RecurrenceOptions {
  Time launch_overhead{};
  int hardware_queues = 32;
  std::vector<double> rank_scale{};  // of every task but collectives; empty: 1
};

// The execution model without contention, as a recurrence over the tasks in launch order: in-order
// streams, waits, launches that take time, hardware queues, collectives that start when the last
// of their group has. `durations` are the tasks' own. Every rank is a class of its own. A
// collective must be the same task on all members of its group.
Trace run_recurrence(const Program& program,
                     const std::vector<Time>& durations,
                     const RecurrenceOptions& options = {});

// The trace of the same run in which the first rank stands for all: for programs whose ranks do
// the same at the same times.
Trace folded(Trace trace);

}  // namespace moesim::test
