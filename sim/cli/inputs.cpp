#include "sim/cli/inputs.h"

#include "sim/schedule/schedule.h"

namespace moesim {

std::vector<std::string> files_of(const Scenario& scenario) {
  return {scenario.path, scenario.cluster_path, scenario.profile_path};
}

Inputs load_scenario_inputs(const ScenarioOptions& options) {
  return load_inputs(
      options.scenario, options.cluster, options.profile, options.overrides, schedule_names());
}

Inputs load_scenario_inputs(const std::string& scenario,
                            const std::vector<std::string>& overrides) {
  return load_inputs(scenario, "", "", overrides, schedule_names());
}

}  // namespace moesim
