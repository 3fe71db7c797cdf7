#pragma once

#include <string_view>

#include "sim/base/time.h"
#include "sim/io/profile.h"

namespace moesim {

// `seconds` of `what`, to the nearest picosecond. Throws Error when they are no number or more than
// ten days: a mistake in sizes or rates, and no time that simulations can add up.
Time checked_time(double seconds, std::string_view what);

// The share of a collective's nominal bytes that crosses a member's port in a group of `size`:
// (n-1)/n for ALL_TO_ALL, ALL_GATHER and REDUCE_SCATTER; 2(n-1)/n for ALL_REDUCE (a reduce-scatter
// and an all-gather, Rabenseifner 2004; the same for a ring); 1 for SHIFT and BROADCAST.
double wire_share(CollectiveOperation operation, int size);

// The start-up time of an entry in a group of `size`.
double startup_seconds(const CollectiveCost& entry, int size);

// Seconds of a measured table at a size: the start-up, which all its times contain, and what they
// exceed it by, linear between points in the logarithms of size and seconds. This keeps a table
// monotone, and gives one of a line and its start-up back as that line. Beyond the table the slope
// of its nearest two points goes on; below it, if there is a start-up, and from a single point, the
// rate of the least. Points ascend in size; none is at zero.
double interpolate(const std::vector<MeasuredPoint>& points, double size, double startup = 0);

// True when an interpolation at the size leaves the measured range.
bool extrapolates(const std::vector<MeasuredPoint>& points, double size);

// The transfer of an entry for `bytes`, without its start-up time: seconds_per_byte * bytes, or
// what the table, interpolated, exceeds it by. `measured_size` is the group size of the
// measurement.
double transfer_seconds(const CollectiveCost& entry, double bytes, int measured_size);

}  // namespace moesim
