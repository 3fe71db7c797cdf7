#include "sim/cli/backend.h"
#include "sim/cli/commands.h"
#include "sim/cli/iteration_report.h"
#include "sim/cli/output.h"
#include "sim/cli/progress.h"
#include "sim/cli/subject.h"

namespace moesim {
namespace {

RepeatedRuns run_with_progress(const Backend& backend, const Program& program) {
  backend.require_runnable({program});
  Progress progress("runs", backend.rule().most);
  return backend.run(program, [&] { progress.add_one(); });
}

MeasuredRuns measured(const RepeatedRuns& runs, const std::string& backend) {
  return {.backend = backend,
          .accepted = static_cast<int>(runs.accepted.size()),
          .rejected = runs.num_rejected,
          .median_seconds = runs.iteration().median.seconds(),
          .p25_seconds = runs.iteration().p25.seconds(),
          .lateness_seconds = runs.lateness().seconds(),
          .delay_seconds = runs.delay().seconds(),
          .spread = runs.spread(),
          .stopped = to_string(runs.stopped)};
}

}  // namespace

int run_execute(const ExecuteOptions& options) {
  const Subject subject = load_subject(options, {options.outputs.trace, options.outputs.svg});
  require_verified(subject);
  const Backend backend(options.backend, subject.cluster_or_null(), subject.profile_or_null());
  const RepeatedRuns runs = run_with_progress(backend, subject.program());
  const Trace& trace = runs.typical().trace;
  write_files(options.outputs, subject, trace);
  SimulationResult result = make_result(result_inputs(subject, trace));
  result.runner_up.reset();  // its time is a prediction, no measurement like this one
  result.measured = measured(runs, options.backend.name);
  print_out(report(options.outputs, result, subject.program(), trace));
  return kExitOk;
}

}  // namespace moesim
