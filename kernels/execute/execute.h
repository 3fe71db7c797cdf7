#pragma once

#include "kernels/execute/options.h"

namespace moesim {

// Loads, verifies, runs, reports. Returns the exit code. Throws Error and Failure; as one of
// several processes it ends all of them instead.
int execute(const RunOptions& options);

}  // namespace moesim
