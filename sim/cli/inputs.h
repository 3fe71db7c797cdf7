#pragma once

#include "sim/cli/options.h"
#include "sim/io/inputs.h"

namespace moesim {

// A scenario with its cluster and profile, as the command line names and changes them.
Inputs load_inputs(const ScenarioOptions& options);

}  // namespace moesim
