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

struct InputOptions {
  // Instead of the files that the scenario names, unless empty.
  std::string cluster{};
  std::string profile{};
  // "model.sequence=2048"; "cluster.…" and "profile.…" change the cluster and profile that are
  // used.
  std::vector<std::string> overrides{};
  // "OPERATION=NAME": before the profile's own `algorithms`.
  std::vector<std::string> algorithms{};
  // Schedules must be among these, unless there are none.
  std::vector<std::string> known_schedules{};
  // A scenario may name no profile: then nothing has a cost, until something is measured.
  bool needs_profile = true;
};

// Reads a scenario, its cluster and its profile. Throws Error located in a file or at an override.
Inputs load_inputs(const std::string& scenario_path, const InputOptions& options = {});

// Only the scenario; it needs its cluster, whose GPUs are its ranks.
Scenario load_scenario(const std::string& path, const std::vector<std::string>& overrides = {});

}  // namespace moesim
