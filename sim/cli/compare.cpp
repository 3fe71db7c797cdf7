#include <algorithm>
#include <string>
#include <vector>

#include "sim/cli/commands.h"
#include "sim/cli/inputs.h"
#include "sim/cli/lineup.h"
#include "sim/cli/output.h"
#include "sim/cli/progress.h"
#include "sim/cli/subject.h"
#include "sim/report/result.h"

namespace moesim {
namespace {

SimulationResult predict(const Inputs& inputs,
                         const std::string& schedule,
                         const CompareOptions& options) {
  const Subject subject = plan_subject(inputs, schedule, options.plan, options.resolution);
  require_verified(subject);
  const Trace trace = simulate(subject, {.resolution = options.resolution});
  return make_result(result_inputs(subject, trace));
}

}  // namespace

int run_compare(const CompareOptions& options) {
  const Inputs inputs = load_scenario_inputs(options.input);
  const Lineup lineup = choose_lineup(inputs.scenario, options.schedules, options.baseline);
  std::vector<SimulationResult> results;
  {
    Progress progress("schedules", static_cast<int>(lineup.schedules.size()));
    for (const std::string& schedule : lineup.schedules) {
      results.push_back(predict(inputs, schedule, options));
      progress.add_one();
    }
  }
  const Comparison comparison = make_comparison(std::move(results), lineup.baseline);
  print_out(options.json ? to_json(comparison) : to_table(comparison));
  return kExitOk;
}

}  // namespace moesim
