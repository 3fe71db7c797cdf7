#pragma once

#include <string>
#include <vector>

#include "sim/io/cluster.h"
#include "sim/io/profile.h"
#include "sim/io/scenario.h"

namespace moesim {

// A scenario with everything it names.
struct Inputs {
  Scenario scenario;
  Cluster cluster;
  Profile profile;
  std::string hash;  // of the files' bytes and the overrides, hexadecimal
};

// Reads a scenario, its cluster and its profile. `cluster_path` and `profile_path` replace the
// files that the scenario names unless they are empty. An override is "model.sequence=2048";
// "cluster.…" and "profile.…" change the cluster and profile that are used. Schedules must be among
// `known_schedules` unless that is empty. Throws Error located in a file or at an override.
Inputs load_inputs(const std::string& scenario_path,
                   const std::string& cluster_path = "",
                   const std::string& profile_path = "",
                   const std::vector<std::string>& overrides = {},
                   const std::vector<std::string>& known_schedules = {});

// Only the scenario; it needs its cluster, whose GPUs are its ranks.
Scenario load_scenario(const std::string& path, const std::vector<std::string>& overrides = {});

}  // namespace moesim
