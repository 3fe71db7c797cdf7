#include "sim/cli/inputs.h"

#include "sim/schedule/schedule.h"

namespace moesim {

std::vector<std::string> files_of(const Scenario& scenario) {
  return {scenario.path, scenario.cluster_path, scenario.profile_path};
}

Inputs load_scenario_inputs(const ScenarioOptions& options, bool needs_profile) {
  return load_inputs(options.scenario,
                     {.cluster = options.cluster,
                      .profile = options.profile,
                      .overrides = options.overrides,
                      .known_schedules = schedule_names(),
                      .needs_profile = needs_profile});
}

Inputs load_scenario_inputs(const std::string& scenario,
                            const std::vector<std::string>& overrides) {
  return load_inputs(scenario, {.overrides = overrides, .known_schedules = schedule_names()});
}

}  // namespace moesim
