#include "kernels/execute/execute.h"

#include <utility>

#include "kernels/execute/steps.h"
#include "kernels/host/host_executor.h"

namespace moesim {
namespace {

int execute_on_threads(const RunOptions& options) {
  const Program program = load_verified(options);
  check_memory(program, program.num_ranks, options.program);
  HostExecutor executor(program, host_options(options));
  TensorStore tensors(program);
  RepeatedRuns runs = repeat(executor, options.repeat, tensors);
  const Outcome outcome{std::move(runs), results_to_text(tensors)};
  report(options, program, outcome);
  return are_enough(options, outcome.runs) ? kExitOk : kExitFailed;
}

}  // namespace

int execute(const RunOptions& options) {
  return options.transport == TransportKind::kMpi ? execute_on_mpi(options)
                                                  : execute_on_threads(options);
}

}  // namespace moesim
