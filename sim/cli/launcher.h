#pragma once

#include "kernels/repeat.h"
#include "sim/cli/options.h"
#include "sim/io/program.h"

namespace moesim {

// Runs a Program in processes that a command of the user's starts:
//   LAUNCHER PROGRAM --transport mpi --warmup N --repeat N --max-repeat N --spread E
//   --dilation K --traces FOLDER
// and reads the traces that they leave. Throws Failure when the command fails.
RepeatedRuns launch(const BackendOptions& options, const Program& program);

}  // namespace moesim
