#pragma once

#include <vector>

#include "sim/io/profile.h"

namespace moesim {

// One measurement: the time that an operation of a size took.
struct Sample {
  double size = 0;     // bytes, FLOPs; positive
  double seconds = 0;  // positive
};

// t = startup + slope * size, and how well it holds.
struct Line {
  double startup_seconds = 0;
  double seconds_per_unit = 0;
  Fit fit;

  double at(double size) const { return startup_seconds + seconds_per_unit * size; }
};

// Fits a line to relative residuals (t - line)/t, so that small sizes count as much as large ones,
// by iteratively reweighted least squares with Huber's weights: residuals beyond 1.345 times their
// scale (the median absolute residual / 0.6745) count by their absolute value, so that single
// disturbed samples do not move it. Neither part is negative: a line that would begin below zero
// goes through the origin, as does one of times so far apart that both parts cannot be told, and
// one that would fall is flat. Needs at least two different sizes.
Line fit_line(const std::vector<Sample>& samples);

// Whether a line can be fitted.
bool has_two_sizes(const std::vector<Sample>& samples);

// A line whose medians lie further off than this is not kept: the profile gets the measured table.
inline constexpr double kWorstResidual = 0.1;

// The medians of the sizes, which stand instead of a line that lies too far from one of them; empty
// where it does not.
std::vector<MeasuredPoint> table_instead(const Line& line, const std::vector<Sample>& samples);

// A collective's time from samples by bytes: the line, or the table where no line holds.
void fit_time(const std::vector<Sample>& samples, CollectiveCost& cost);

// The median of the times of each size, made non-descending: sizes whose medians descend are pooled
// with their neighbours, and get the median of all their samples (the pool-adjacent-violators
// algorithm: the isotonic table with the least absolute deviations), so that one slow size does not
// lift those after it. A table for what no line fits.
std::vector<Sample> median_table(const std::vector<Sample>& samples);

// The middle value, or the mean of the two middle ones. Needs at least one value.
double median(std::vector<double> values);

// The lower of the two middle values where the number is even; `fraction` 0.25 gives the lower
// quartile. Needs at least one value.
double quantile(std::vector<double> values, double fraction);

}  // namespace moesim
