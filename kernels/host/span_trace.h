#pragma once

#include <vector>

#include "sim/io/program.h"
#include "sim/io/trace.h"

namespace moesim {

// The trace that has these spans, in any order: each rank a class of its own. Who ran it and on
// what it rests are left to the caller.
Trace trace_of_spans(const Program& program, std::vector<TaskSpan> spans);

}  // namespace moesim
