#pragma once

#include <string>
#include <vector>

#include "calibration/probe_plan.h"
#include "sim/cli/backend.h"
#include "sim/io/inputs.h"
#include "sim/io/program.h"

namespace moesim {

// One Program of each schedule that can run the scenario, without chunks: it has the tensors, the
// work and the collectives of those that the schedule would cut it into.
std::vector<Program> unchunked_programs(const Inputs& inputs,
                                        const std::vector<std::string>& schedules);

// The probes of what the schedules of a scenario need; it refers to the inputs.
ProbePlan plan_for(const Inputs& inputs,
                   const std::vector<std::string>& schedules,
                   bool with_operations);

// What calibrated_profile runs.
std::vector<Program> probe_programs(const Inputs& inputs,
                                    const std::vector<std::string>& schedules,
                                    const Backend& backend);

// Probes the backend for what the schedules of a scenario need, with progress on standard error.
// Schedules that cannot run the scenario ask for nothing. Where the backend's operations are
// modelled, their costs are those of the scenario's profile. A profile is whole or not at all:
// throws Error before any probe runs where this machine cannot run them all, and Failure, which
// names the probe, where one was disturbed too often.
Profile calibrated_profile(const Inputs& inputs,
                           const std::vector<std::string>& schedules,
                           const Backend& backend);

}  // namespace moesim
