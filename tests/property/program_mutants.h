#pragma once

#include <map>
#include <utility>
#include <vector>

#include "sim/io/program.h"

namespace moesim::testing {

// Tasks that follow each other on a stream, the earlier one first, of which the later reads what
// the earlier wrote. Two that only add to the same sum are none: which adds first is part of the
// result's bits, and for the equality tests of real execution to see.
std::vector<std::pair<int, int>> dependent_neighbours(const Program& program);

// The two tasks change places; both keep what waits for them.
Program with_tasks_swapped(const Program& program, int first, int second);

// Rank 0 and the others, whom it meets in every group, get tasks of their own, which do the same.
Program with_two_roles(const Program& program);

// Tasks of the second role of such a Program that the first one meets in the same communicator, in
// launch order; by group and stream.
std::map<std::pair<int, int>, std::vector<int>> communicators(const Program& split);

}  // namespace moesim::testing
