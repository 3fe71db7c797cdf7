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

// Seconds of a measured table at a size: linear between its points in log(size), log(seconds),
// which keeps it monotone. Outside its range the slope of the nearest two points goes on; a single
// point is taken as a constant rate. Points ascend in size; none is at zero.
double interpolate(const std::vector<MeasuredPoint>& points, double size);

// True when an interpolation at the size leaves the measured range.
bool extrapolates(const std::vector<MeasuredPoint>& points, double size);

// The transfer of an entry for `bytes`, without its start-up time: seconds_per_byte * bytes, or
// what the table exceeds the start-up time by (a measured time contains it), below its sizes at the
// rate of the least of them. `measured_size` is the group size of the measurement.
double transfer_seconds(const CollectiveCost& entry, double bytes, int measured_size);

}  // namespace moesim
