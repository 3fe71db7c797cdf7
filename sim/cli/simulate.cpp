#include "sim/cli/ablation.h"
#include "sim/cli/bottleneck_range.h"
#include "sim/cli/commands.h"
#include "sim/cli/iteration_report.h"
#include "sim/cli/output.h"
#include "sim/cli/subject.h"
#include "sim/engine/uncontended_work.h"
#include "sim/report/result.h"

namespace moesim {

int run_simulate(const SimulateOptions& options) {
  const IterationOutputs& outputs = options.outputs;
  const Subject subject = load_subject(options,
                                       {.outputs = {outputs.trace, outputs.svg, outputs.link_load},
                                        .links = !outputs.link_load.empty(),
                                        .resolution = options.resolution});
  if (options.unverified) {
    require_in_bounds(subject);
  } else {
    require_verified(subject);
  }
  if (!options.program.empty()) {
    require_costs(subject, options.program);
  }
  UncontendedWork work;
  const Trace trace = simulate(subject, {.resolution = options.resolution, .work = &work});
  const ResultInputs inputs = result_inputs(subject, trace);
  SimulationResult result = make_result(inputs, uncontended_bounds(inputs, work));
  if (options.ablate) {
    result.ablation = ablate(subject, options.resolution, trace.end);
  }
  if (options.bottleneck_range) {
    result.bottleneck_range = bottleneck_range({subject}, options.plan, options.resolution);
  }
  write_files(outputs, subject, trace);
  print_out(report(outputs, result, subject.program(), trace));
  return kExitOk;
}

}  // namespace moesim
