#pragma once

#include "kernels/execute/options.h"

namespace moesim {

// Loads, verifies, runs, reports. Returns the exit code. Throws Error and Hang.
int execute(const ExecuteOptions& options);

}  // namespace moesim
