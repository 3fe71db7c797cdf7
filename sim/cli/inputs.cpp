#include "sim/cli/inputs.h"

#include <utility>

#include "sim/cluster/wired_cluster.h"
#include "sim/io/imported_files.h"
#include "sim/schedule/schedule.h"

namespace moesim {
namespace {

Inputs load(const std::string& scenario, const InputOptions& options) {
  Inputs inputs = load_inputs(scenario, options);
  inputs.cluster = wired(std::move(inputs.cluster));
  return inputs;
}

}  // namespace

std::vector<std::string> files_of(const Inputs& inputs) {
  const Scenario& scenario = inputs.scenario;
  std::vector<std::string> files = imported_files(inputs.cluster);
  files.insert(files.end(), {scenario.path, scenario.cluster_path, scenario.profile_path});
  return files;
}

Inputs load_scenario_inputs(const ScenarioOptions& options, bool needs_profile) {
  return load(options.scenario,
              {.cluster = options.cluster,
               .profile = options.profile,
               .overrides = options.overrides,
               .algorithms = options.algorithms,
               .known_schedules = schedule_names(),
               .needs_profile = needs_profile});
}

Inputs load_scenario_inputs(const std::string& scenario,
                            const std::vector<std::string>& overrides) {
  return load(scenario, {.overrides = overrides, .known_schedules = schedule_names()});
}

}  // namespace moesim
