#pragma once

#include <map>
#include <string>

#include "sim/base/time.h"
#include "sim/io/program.h"
#include "sim/io/trace.h"

namespace moesim {

// Means over all ranks (classes weighted by their size).
struct Usage {
  std::map<std::string, Time> busy;  // by stream: time in which one of its tasks runs
  Time straggler_wait;               // of collectives: local start to the last arrival
  Time exposed_communication;        // from there to the end while the compute stream is idle
};

Usage usage(const Program& program, const Trace& trace);

}  // namespace moesim
