#pragma once

#include <string>
#include <vector>

#include "kernels/executor.h"
#include "kernels/host/host_script.h"

namespace moesim {

// A process's spans and lateness as bytes.
std::string spans_to_bytes(const Execution& execution);

// Puts the runs of all processes together. A collective moves data from its last member's start on,
// which only now is known; where clocks differ, not after a member's end.
Execution merge_runs(const Program& program,
                     const HostScript& script,
                     const std::vector<std::string>& runs);

// What repeat() decides by, so that all processes decide alike.
std::string verdict_of(const Execution& execution);
void take_verdict(const std::string& bytes, Execution& execution);

}  // namespace moesim
