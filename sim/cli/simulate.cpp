#include <string>
#include <vector>

#include "sim/cli/ablation.h"
#include "sim/cli/commands.h"
#include "sim/cli/inputs.h"
#include "sim/cli/iteration_report.h"
#include "sim/cli/output.h"
#include "sim/cli/output_paths.h"
#include "sim/cli/subject.h"
#include "sim/report/result.h"

namespace moesim {
namespace {

Subject load(const SimulateOptions& options) {
  const std::vector<std::string> outputs = {options.outputs.trace, options.outputs.svg};
  if (!options.program.empty()) {
    check_outputs(outputs, {options.program, options.input.cluster, options.input.profile});
    return load_subject(options.program, options.input);
  }
  const Inputs inputs = load_scenario_inputs(options.input);
  check_outputs(outputs, files_of(inputs.scenario));
  return plan_subject(inputs, options.schedule, options.plan, options.resolution);
}

}  // namespace

int run_simulate(const SimulateOptions& options) {
  const Subject subject = load(options);
  if (options.unverified) {
    require_in_bounds(subject);
  } else {
    require_verified(subject);
  }
  if (!options.program.empty()) {
    require_costs(subject, options.program);
  }
  const Trace trace = simulate(subject, {.resolution = options.resolution});
  SimulationResult result = make_result(result_inputs(subject, trace));
  if (options.ablate) {
    result.ablation = ablate(subject, options.resolution, trace.end);
  }
  write_files(options.outputs, subject, trace);
  print_out(report(options.outputs, result, subject.program(), trace));
  return kExitOk;
}

}  // namespace moesim
