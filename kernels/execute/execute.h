#pragma once

#include "kernels/execute/options.h"

namespace moesim {

// Loads, verifies, runs, reports. Returns the exit code. Throws Error and Hang.
int execute(const RunOptions& options);

// The same for one of the processes that mpirun started: on any failure it ends all of them. Where
// this build has no MPI, throws Error that says how to get it.
int execute_on_mpi(const RunOptions& options);

}  // namespace moesim
