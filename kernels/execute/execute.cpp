#include "kernels/execute/execute.h"

#include <utility>

#include "kernels/execute/steps.h"
#include "kernels/host/host_executor.h"
#include "kernels/mpi/processes.h"
#include "kernels/results.h"

namespace moesim {
namespace {

int execute_on_threads(const RunOptions& options) {
  const Program program = load_verified(options);
  check_memory(program, program.num_ranks, options.program);
  HostExecutor executor(program, host_options(options));
  TensorStore tensors(program);
  RepeatedRuns runs = repeat(executor, options.repeat, tensors);
  const ExecutedRuns executed{std::move(runs), results_to_text(tensors)};
  report(options, program, executed);
  return are_enough(options, executed.runs) ? kExitOk : kExitFailed;
}

int execute_in_processes(const RunOptions& options, const Processes& processes) {
  const Program program = load_verified(options);
  check_memory(program, processes.num_ranks_here(program), options.program);
  const ExecutedRuns executed = processes.run(program, host_options(options), options.repeat);
  if (processes.process == 0) {
    report(options, program, executed);
  }
  return are_enough(options, executed.runs) ? kExitOk : kExitFailed;
}

}  // namespace

int execute(const RunOptions& options) {
  if (options.transport == TransportKind::kThreads) {
    return execute_on_threads(options);
  }
  return in_processes("moesim-execute", [&options](const Processes& processes) {
    return execute_in_processes(options, processes);
  });
}

}  // namespace moesim
