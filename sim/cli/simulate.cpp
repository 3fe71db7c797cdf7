#include <string>
#include <utility>
#include <vector>

#include "sim/analysis/critical_path.h"
#include "sim/cli/ablation.h"
#include "sim/cli/commands.h"
#include "sim/cli/inputs.h"
#include "sim/cli/output.h"
#include "sim/cli/output_paths.h"
#include "sim/cli/subject.h"
#include "sim/io/files.h"
#include "sim/report/result.h"
#include "sim/report/timeline.h"

namespace moesim {
namespace {

Subject load(const SimulateOptions& options) {
  const std::vector<std::string> outputs = {options.trace, options.svg};
  if (!options.program.empty()) {
    check_outputs(outputs, {options.program, options.input.cluster, options.input.profile});
    return load_subject(options.program, options.input);
  }
  const Inputs inputs = load_scenario_inputs(options.input);
  check_outputs(outputs, files_of(inputs.scenario));
  return plan_subject(inputs, options.schedule, options.plan, options.resolution);
}

std::string picture(const SimulateOptions& options, const Subject& subject, const Trace& trace) {
  const int queues = hardware_queues(subject.profile_or_null());
  return to_svg(subject.program(),
                trace,
                critical_path(subject.program(), trace, queues),
                {.first_layer = options.layers.first,
                 .last_layer = options.layers.last,
                 .title = subject.program().name});
}

// All texts exist before the first file is written.
void write_files(const SimulateOptions& options, const Subject& subject, const Trace& trace) {
  std::vector<std::pair<std::string, std::string>> files;
  if (!options.trace.empty()) {
    files.emplace_back(options.trace, to_chrome_trace(subject.program(), trace));
  }
  if (!options.svg.empty()) {
    files.emplace_back(options.svg, picture(options, subject, trace));
  }
  for (const auto& [path, text] : files) {
    write_file_atomically(path, text);
  }
}

std::string report(const SimulateOptions& options,
                   const SimulationResult& result,
                   const Program& program,
                   const Trace& trace) {
  if (!options.json) {
    return to_table(result);
  }
  return options.spans ? to_json(result, program, trace) : to_json(result);
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
  write_files(options, subject, trace);
  print_out(report(options, result, subject.program(), trace));
  return kExitOk;
}

}  // namespace moesim
