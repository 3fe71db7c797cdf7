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

// What a rank's tasks take alone. The rank stands for all that have the same costs.
struct RankWork {
  int rank = 0;
  std::vector<Time> durations;  // by task; a collective's is that of its whole group
  // By task: tasks of one number are one collective (numbered from 0 on, closely); or kNone.
  std::vector<int> collectives;
};

// The bounds of all ranks together: stragglers and ranks with more tokens count. Data dependences
// are those of the regions, or `waits` for tasks without regions.
LowerBounds lower_bounds(const Program& program, const std::vector<RankWork>& ranks);

}  // namespace moesim
