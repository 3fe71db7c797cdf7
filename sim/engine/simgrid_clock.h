#pragma once

#include "sim/engine/machine.h"

namespace moesim {

// Runs the machine to its last event under SimGrid's clock. One call at a time: SimGrid has one
// engine per process. Calls may follow each other without end; each one's results depend on its
// machine alone.
void run_on_simgrid(Machine& machine);

}  // namespace moesim
