#pragma once

#include <string>
#include <vector>

#include "sim/base/time.h"
#include "sim/io/program.h"

namespace moesim {

// Times that no order of the same tasks can beat.
struct LowerBounds {
  Time busiest;           // the busiest stream's or port's uncontended work
  std::string busiest_name;
  Time dependency_chain;  // the longest chain of data dependences, uncontended
};

// `durations` holds each task's uncontended time (engine: task_durations). Data dependences are
// those of the regions, or `waits` for tasks without regions.
LowerBounds lower_bounds(const Program& program, const std::vector<Time>& durations);

}  // namespace moesim
