#pragma once

#include <string>
#include <vector>

#include "sim/io/scenario.h"

namespace moesim {

// The schedules that a command runs, and the one of them that speed-ups are measured against.
struct Lineup {
  std::vector<std::string> schedules;
  std::string baseline;
};

// Without `schedules` the scenario's. Without `baseline` the scenario's where it is among the
// schedules, else the first; one that is given but not among them is put before them. Unknown,
// empty and repeated names throw Error.
Lineup choose_lineup(const Scenario& scenario,
                     std::vector<std::string> schedules,
                     std::string baseline);

// Of an empty name, the first schedule that the scenario lists.
std::string choose_schedule(const Scenario& scenario, const std::string& schedule);

}  // namespace moesim
