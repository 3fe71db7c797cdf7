#pragma once

#include <string>
#include <vector>

#include "calibration/nccl_log.h"
#include "calibration/robust_fit.h"
#include "sim/io/profile.h"

namespace moesim {

// One size of a collective on one layout: what was measured (the median of its rows, whose time is
// the mean of both halves), and what stands for it.
struct NcclPoint {
  std::int64_t bytes = 0;
  double measured_seconds = 0;
  double table_seconds = 0;    // of the profile: medians, made non-descending
  double line_seconds = 0;     // of the fitted line
  double without_seconds = 0;  // interpolated from the other sizes; 0 for the least and the largest
};

// A collective on a layout, from all tests of it.
struct NcclEntry {
  CollectiveOperation operation = CollectiveOperation::kAllReduce;
  Layout layout;
  Line line{};
  bool line_holds = false;  // within kWorstResidual of every size
  std::vector<NcclPoint> points{};
};

struct NcclCalibration {
  Profile profile;
  std::vector<NcclEntry> entries;     // as in the profile's collectives
  std::vector<std::string> left_out;  // tests that give nothing, and why
};

// The time of a row for a size, from all rows of one layout but those of that size.
double time_without(const std::vector<Sample>& samples, double size);

// A profile of the collectives that the logs measured: tables, and start-up times from lines fitted
// to them. The start-up of a collective in n-1 steps or with n-1 peers is given per peer, unless
// logs of several numbers of ranks show that it grows less than half as fast (in the logarithm).
// The caller adds port rates.
NcclCalibration calibrate_from_logs(const std::vector<NcclLog>& logs);

}  // namespace moesim
