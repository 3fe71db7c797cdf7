#pragma once

#include <vector>

#include "sim/base/time.h"
#include "sim/io/profile.h"
#include "sim/io/program.h"
#include "sim/io/trace.h"

namespace moesim {

struct RecurrenceOptions {
  Time launch_overhead;
  int hardware_queues = kDefaultHardwareQueues;
};

// What the execution model's rules say about a Program of fixed tasks, host waits and collectives
// that take no time, as equations between times, solved by repetition. With L launched, S start and
// E end of task i on rank r, p the tasks that r launches before i:
//   L = (end of the last host wait before i, or 0) + overhead * (tasks launched since, i included;
//       collectives of others and of the rank alone are not launched, they only keep their places)
//   S = max(L, E of the stream's previous task, E of each wait, S of all p in the hardware queue)
//   E = S + fixed time * rank scale; of a collective: max of S over its members
// Written without an event loop and without any part of the engine, which it is there to check.
// Returns one span for each task and rank that runs it, ordered by start, task, rank. A Program
// with other tasks, or whose collectives deadlock, is a programmer error (CHECK).
std::vector<TaskSpan> solve_recurrence(const Program& program,
                                       const RecurrenceOptions& options = {});

}  // namespace moesim
