#pragma once

#include <cstdint>

#include "sim/base/time.h"
#include "sim/io/profile.h"
#include "sim/io/program.h"

namespace moesim::validation {

// A Program of fixed tasks and how it is to be run.
struct RandomProgram {
  Program program;
  Time launch_overhead;
  int hardware_queues = kDefaultHardwareQueues;
};

// The index-th Program of a seed: 1 to 4 ranks under up to two roles, 1 to 6 streams, up to 60
// tasks with waits for earlier ones, host waits, ranks of unequal speed, meetings of ranks (all
// reduces of no bytes), one or 32 hardware queues, launch overhead or none. Many times are zero or
// equal, so that ties are tried too.
RandomProgram random_program(std::uint64_t seed, int index);

}  // namespace moesim::validation
