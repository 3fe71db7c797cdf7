#pragma once

#include <vector>

#include "sim/analysis/bounds.h"

namespace moesim::test {

// What every rank's tasks take when each has its duration everywhere, fixed ones times the rank's
// scale. The k-th collectives of a group's instance on a stream are one.
std::vector<RankWork> work_of_ranks(const Program& program, const std::vector<Time>& durations);

}  // namespace moesim::test
