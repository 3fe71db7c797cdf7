#pragma once

#include <string>

#include "sim/base/random.h"
#include "sim/io/scenario.h"
#include "sim/schedule/schedule.h"

namespace moesim::testing {

// A scenario of the equality cases with drawn features: gate, feed-forward, mask, grouped heads,
// layers, recomputation, padding, capacity, routing, optimizer, data type.
Scenario random_scenario(const std::string& schedule, Random& random);

// One of the degrees that the equality cases try on the scenario.
Degrees random_degrees(const std::string& schedule, const Scenario& scenario, Random& random);

}  // namespace moesim::testing
