#pragma once

#include <vector>

#include "sim/base/time.h"
#include "sim/cli/subject.h"
#include "sim/report/result.h"

namespace moesim {

// Turns effects off one at a time and simulates again; `iteration` is the time with all of them.
// Degrees stay as they are. A Program file has only the engine's effects: launch overhead, the
// limit of hardware queues, the sharing of ports.
std::vector<AblatedEffect> ablate(const Subject& subject, Resolution resolution, Time iteration);

}  // namespace moesim
