#include "kernels/mpi/processes.h"
#include "sim/cli/backend.h"
#include "sim/cli/commands.h"
#include "sim/cli/iteration_report.h"
#include "sim/cli/output.h"
#include "sim/cli/progress.h"
#include "sim/cli/subject.h"
#include "sim/io/files.h"

namespace moesim {
namespace {

ExecutedRuns run_with_progress(const Backend& backend, const Program& program) {
  backend.require_runnable({program});
  Progress progress("runs", backend.rule().most);
  return backend.run(program, [&] { progress.add_one(); });
}

// Operations that took what they took on this machine have no bound, and no share of a GEMM rate,
// that follows from the profile of a GPU.
SimulationResult make_executed_result(const Subject& subject, const Trace& trace, bool modelled) {
  const ResultInputs inputs = result_inputs(subject, trace);
  if (modelled) {
    return make_result(inputs);
  }
  SimulationResult result = make_result(inputs, LowerBounds{});
  result.model_flops_utilization = 0;
  return result;
}

void tell(const ExecuteOptions& options, const Subject& subject, const ExecutedRuns& executed) {
  const RepeatedRuns& runs = executed.runs;
  const Trace& trace = runs.typical().trace;
  write_files(options.outputs, subject, trace);
  if (!options.results.empty()) {
    write_file_atomically(options.results, executed.results);
  }
  SimulationResult result = make_executed_result(subject, trace, options.backend.modelled);
  result.runner_up.reset();  // its time is a prediction, no measurement like this one
  result.backend = options.backend.name;
  result.measured = measured_runs(runs);
  result.kernels = executed.kernels;
  print_out(report(options.outputs, result, subject.program(), trace));
}

// On threads of this process, or with others of which all do this and the first tells.
int execute(const ExecuteOptions& options, const Processes* processes) {
  const Subject subject =
      load_subject(options, {{options.outputs.trace, options.outputs.svg, options.results}});
  require_verified(subject);
  const Backend backend(
      options.backend, subject.cluster_or_null(), subject.profile_or_null(), processes);
  ExecutedRuns executed = run_with_progress(backend, subject.program());
  if (options.kernels) {
    executed.kernels = backend.kernel_times(subject.program());
  }
  if (processes == nullptr || processes->process == 0) {
    tell(options, subject, executed);
  }
  return kExitOk;
}

}  // namespace

int run_execute(const ExecuteOptions& options) {
  if (!options.in_processes) {
    return execute(options, nullptr);
  }
  return in_processes(
      "moesim", [&options](const Processes& processes) { return execute(options, &processes); });
}

}  // namespace moesim
