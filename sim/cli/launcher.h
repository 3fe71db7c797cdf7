#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/gpu/gpu.h"
#include "kernels/host/host_options.h"
#include "kernels/repeat.h"
#include "kernels/results.h"
#include "sim/io/program.h"

namespace moesim {

// How processes of moesim-execute are started, and what they are told.
struct Launch {
  std::string command;  // for the shell; or, where there is such a file, its path alone
  HostClock clock = HostClock::kFree;
  double dilation = 1;
  int hardware_queues = kDefaultHardwareQueues;
  std::optional<GpuRanks> gpu;  // each rank on one, in place of clock and dilation
  RepeatOptions repeat;
};

// Runs a Program in processes that a command of the user's starts,
//   COMMAND PROGRAM --transport mpi --hardware-queues … --traces FOLDER --results FILE
// and reads what they leave; the folder is removed. Throws Failure when the command
// fails, with what it said, and when it leaves no traces of this Program or no results.
ExecutedRuns launch(const Program& program, const Launch& launch);

// What `COMMAND --gpu-facts` prints in its processes, each line once. Throws Failure when the
// command fails.
std::vector<std::string> launched_gpu_facts(const std::string& command);

}  // namespace moesim
