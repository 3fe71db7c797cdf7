#pragma once

#include <optional>
#include <string>

#include "calibration/crosscheck.h"

namespace moesim {

// What a crosscheck is held to; what is absent is not judged.
struct CrosscheckBar {
  std::optional<double> error;          // largest of the schedules' absolute errors
  std::optional<double> median_error;   // median of them
  std::optional<double> speedup_error;  // largest of the absolute errors of speed-ups
  bool ranking = false;                 // every ranked pair in the measured order
};

// A crosscheck that was run and kept: with what, when and where.
struct MeasuredCrosscheck {
  std::string command;
  std::string date;
  std::string machine;
  CrosscheckBar bar;
  Crosscheck crosscheck;  // without the kinds of tasks
};

// Reads {"command", "date", "machine", "bar": {"error", "median_error", "speedup_error",
// "ranking"}, "crosscheck": what `moesim crosscheck --json` printed}. Errors, medians and the
// ranking follow from its times and are not read. Throws Error located at a field.
MeasuredCrosscheck parse_measured_crosscheck(const std::string& path, const std::string& text);

}  // namespace moesim
