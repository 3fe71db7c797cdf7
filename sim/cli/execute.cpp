#include <string>
#include <vector>

#include "sim/base/error.h"
#include "sim/cli/backend.h"
#include "sim/cli/commands.h"
#include "sim/cli/inputs.h"
#include "sim/cli/iteration_report.h"
#include "sim/cli/output.h"
#include "sim/cli/output_paths.h"
#include "sim/cli/subject.h"

namespace moesim {
namespace {

Subject load(const ExecuteOptions& options) {
  const std::vector<std::string> outputs = {options.outputs.trace, options.outputs.svg};
  if (!options.program.empty()) {
    check_outputs(outputs, {options.program, options.input.cluster, options.input.profile});
    return load_subject(options.program, options.input);
  }
  const Inputs inputs = load_scenario_inputs(options.input);
  check_outputs(outputs, files_of(inputs.scenario));
  return plan_subject(inputs, options.schedule, options.plan);
}

}  // namespace

int run_execute(const ExecuteOptions& options) {
  const Subject subject = load(options);
  require_verified(subject);
  const Backend backend(options.backend, subject.cluster_or_null(), subject.profile_or_null());
  const RepeatedRuns runs = backend.run(subject.program());
  const Trace& trace = runs.typical().trace;
  write_files(options.outputs, subject, trace);
  SimulationResult result = make_result(result_inputs(subject, trace));
  result.runner_up.reset();  // its time is a prediction, no measurement like this one
  result.measured = MeasuredRuns{.backend = options.backend.name,
                                 .accepted = static_cast<int>(runs.accepted.size()),
                                 .rejected = runs.num_rejected,
                                 .median_seconds = runs.iteration().median.seconds(),
                                 .p25_seconds = runs.iteration().p25.seconds(),
                                 .lateness_seconds = runs.lateness().seconds()};
  print_out(report(options.outputs, result, subject.program(), trace));
  return kExitOk;
}

}  // namespace moesim
