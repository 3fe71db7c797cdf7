#pragma once

#include <string>
#include <vector>

#include "sim/base/random.h"
#include "sim/schedule/schedule.h"

namespace moesim::testing {

enum class Load {
  kBalanced,  // no capacity, experts take turns
  kSkewed,    // no capacity, a routing with unequal counts
  kDrops      // by the gate's scores, with less capacity than choices
};
const char* to_string(Load load);

struct Layout {
  const char* name;
  ParallelConfig parallel;
};

// On 4 and 8 ranks, mp = esp and not, with and without edp.
const std::vector<Layout>& layouts();

// Two layers of 2 * 24 tokens; experts have 6 to 24 rows, so that 3 and 8 chunks are uneven.
Scenario equality_scenario(const ParallelConfig& parallel, Load load);

// Whether the schedule can run on the layout.
bool can_run(const std::string& schedule, const ParallelConfig& parallel);

// 1, 2, 3, 4 and 8, and different ones for the passes where the schedule has both.
std::vector<Degrees> degrees_to_try(const std::string& schedule, const Scenario& scenario);

// A scenario with drawn features: gate, feed-forward, mask, grouped heads, layers, recomputation,
// padding, capacity, routing, optimizer, data type.
Scenario random_scenario(const std::string& schedule, Random& random);

// What distinguishes the scenario from others, for messages.
std::string describe(const Scenario& scenario, const Degrees& degrees);

}  // namespace moesim::testing
