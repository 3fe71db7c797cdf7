#pragma once

#include <cstdint>

#include "sim/io/program.h"
#include "sim/io/trace.h"

namespace moesim {

// Bytes per GPU at the fullest moment of the fullest rank. Inputs that the rank uses (weights,
// optimizer state, data) live throughout; every other tensor from the start of its first writer to
// the end of its last user. A tensor that is not read again after its last write is a result
// (a gradient, the output) and lives to the iteration's end, unless it is a workspace: its writer
// also makes something that is read, and the tensor states no placement.
struct MemoryUse {
  int64_t peak_bytes = 0;        // the sum of the four below
  int64_t weight_bytes = 0;      // inputs that a task updates or reads as weights
  int64_t gradient_bytes = 0;    // what the update pass reads and results of the backward pass
  int64_t optimizer_bytes = 0;   // inputs that only the update pass uses
  int64_t activation_bytes = 0;  // the rest; this and gradients as far as alive at the peak
};

// Needs the trace's spans.
MemoryUse memory_use(const Program& program, const Trace& trace);

}  // namespace moesim
