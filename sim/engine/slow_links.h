#pragma once

#include <string>
#include <vector>

#include "sim/engine/task_cost.h"
#include "sim/engine/workload.h"

namespace moesim {

// What is to be said of collectives that take longer on the cluster's links than was measured: one
// line for each operation and span, of the one whose links are slowest against what was measured.
// Collectives that the profile has not measured take the links' time as a matter of course.
std::vector<std::string> slow_links(const Workload& workload, TaskCosts& costs);

}  // namespace moesim
