#pragma once

#include "sim/base/random.h"
#include "sim/program/builder.h"

namespace moesim::testing {

// A random Program of 6 ranks: up to three roles, groups that cover the world or not, streams,
// tensors of several blocks, and tasks that read and write random regions, absolute and relative,
// among them collectives, host waits and chunked sums. Its waits are derived. All reads see rows
// that were written, and rows are written once or added to.
Program random_program(Random& random, int num_tasks);

}  // namespace moesim::testing
