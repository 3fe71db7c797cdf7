#pragma once

#include <string>
#include <vector>

#include "sim/cli/options.h"
#include "sim/io/inputs.h"

namespace moesim {

// The files that a scenario was read from, with those that its cluster imports.
std::vector<std::string> files_of(const Inputs& inputs);

// A scenario with its cluster and profile, as the command line names and changes them.
Inputs load_scenario_inputs(const ScenarioOptions& options, bool needs_profile = true);

// The same with the scenario's own cluster and profile.
Inputs load_scenario_inputs(const std::string& scenario,
                            const std::vector<std::string>& overrides = {});

}  // namespace moesim
