#pragma once

#include <string>
#include <vector>

#include "sim/cli/lineup.h"
#include "sim/cli/prediction.h"
#include "sim/io/sweep.h"

namespace moesim {

// Product of the axes' lengths: at most a million (load_sweep).
int num_points(const Sweep& sweep);

// One value per axis; the last axis varies fastest.
std::vector<std::string> values_at(const Sweep& sweep, int point);

// "field=value" per axis, as --set takes them.
std::vector<std::string> overrides_at(const Sweep& sweep, int point);

// What one schedule did at one point: a row of the table.
struct SweepRow {
  std::string schedule;
  Prediction prediction;
  std::string error;  // where the point could not be simulated; nothing else holds then
};

// A column per axis, then schedule, iteration_seconds, speedup, forward_degree, backward_degree,
// error, peak_memory_bytes, fits, non_moe_degree, variant (RFC 4180: what holds a comma, a quote or
// a line end stands in quotes). New columns come last.
std::string csv_header(const Sweep& sweep);

// The lines of one point; what a row has nothing to say on is empty.
std::string csv_lines(const std::vector<std::string>& values,
                      const std::vector<SweepRow>& rows,
                      const std::string& baseline);

}  // namespace moesim
