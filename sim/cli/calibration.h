#pragma once

#include <string>
#include <vector>

#include "sim/cli/backend.h"
#include "sim/io/inputs.h"

namespace moesim {

// Probes the backend for what the schedules of a scenario need, with progress on standard error.
// Schedules that cannot run the scenario ask for nothing. Where the backend's operations are
// modelled, their costs are those of the scenario's profile.
Profile calibrated_profile(const Inputs& inputs,
                           const std::vector<std::string>& schedules,
                           const Backend& backend);

}  // namespace moesim
