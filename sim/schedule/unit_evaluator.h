#pragma once

#include "sim/schedule/schedule.h"

namespace moesim {

// Every task takes a microsecond, whatever it does, a Program a picosecond for each task, and
// everything fits: builds Programs where what they compute counts, not when.
Evaluator unit_evaluator();

}  // namespace moesim
