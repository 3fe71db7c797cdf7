#pragma once

#include <string>
#include <vector>

#include "sim/base/time.h"
#include "sim/io/program.h"

namespace moesim {

// Times that no order of the same tasks can beat.
struct LowerBounds {
  Time busiest;              // the busiest stream's or port's uncontended work
  std::string busiest_name;  // "stream inter"; empty when nothing takes time
  Time dependency_chain;     // the longest chain of data dependences, uncontended
};

// `durations` holds each task's uncontended time on the lowest rank that runs it (engine:
// task_durations). Data dependences are those of the regions, or `waits` for tasks without regions.
// The bounds are those of one rank per role, its lowest, and of the collectives between these; a
// task of several roles counts on the rank that its duration is of (fixed tasks count everywhere).
LowerBounds lower_bounds(const Program& program, const std::vector<Time>& durations);

}  // namespace moesim
