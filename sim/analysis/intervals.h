#pragma once

#include <vector>

#include "sim/base/time.h"

namespace moesim {

// A stretch of time [begin, end).
struct Interval {
  Time begin;
  Time end;
};

// The same moments as disjoint intervals in time order; touching ones become one.
std::vector<Interval> merged(std::vector<Interval> intervals);

// The length of merged intervals.
Time total_length(const std::vector<Interval>& intervals);

// How long both of two merged lists hold.
Time overlap(const std::vector<Interval>& left, const std::vector<Interval>& right);

}  // namespace moesim
