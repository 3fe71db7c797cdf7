#pragma once

#include <string>
#include <vector>

#include "kernels/executor.h"
#include "kernels/host/host_plan.h"

namespace moesim {

// A process's spans and lateness as bytes.
std::string spans_to_bytes(const Execution& execution);

// Puts the runs of all processes together. A collective moves data from its last member's start on,
// which only now is known; where clocks differ, not after a member's end.
Execution merge_runs(const HostPlan& plan, const std::vector<std::string>& runs);

}  // namespace moesim
