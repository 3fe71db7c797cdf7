#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernels/host/host_options.h"
#include "kernels/host/rank_executor.h"
#include "kernels/repeat.h"
#include "kernels/results.h"
#include "sim/io/program.h"

namespace moesim {

// One of the processes that mpirun started; all do the same.
struct Processes {
  int process = 0;
  int num_processes = 1;
  int num_here = 1;    // of them on this machine
  int place_here = 0;  // of this one among them

  // What every process on this machine says, by their places here. All call it, before they run.
  std::function<std::vector<std::string>(const std::string&)> tell_here;

  // Of a Program that can be dealt out equally.
  int num_ranks_here(const Program& program) const {
    return program.num_ranks / num_processes * num_here;
  }

  // Repeats a Program on all processes, an equal run of its ranks on each (see MpiExecutor).
  // Process 0 gets the spans and results of all ranks, others their own spans and no results.
  // Throws Error for what cannot run so, also where the processes made different Programs, and
  // Failure when one of them died, hangs or was cut off.
  std::function<ExecutedRuns(const Program&, const HostOptions&, const RepeatOptions&)> run;

  // The same with a rank on each process, whose collectives are a library's. Throws Error where
  // there are not as many processes as ranks, and what the executors throw.
  std::function<ExecutedRuns(const Program&, const MakeRankExecutor&, const RepeatOptions&)>
      run_ranks;
};

// Starts MPI, has `part` done by every process, ends MPI, and returns the exit code that `part`
// returned. What goes wrong ends all processes: process 0 says why on standard error, once,
// `command` named before a failure; the exit code is 2 for an Error, 1 for all else. Where this
// build has no MPI, throws an Error that says how to get it.
int in_processes(const std::string& command, const std::function<int(const Processes&)>& part);

}  // namespace moesim
