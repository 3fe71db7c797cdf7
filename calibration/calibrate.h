#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/io/cluster.h"
#include "sim/io/profile.h"
#include "sim/io/program.h"
#include "sim/io/scenario.h"
#include "sim/io/trace.h"

namespace moesim {

// Runs a Program on the backend until enough runs are accepted, and gives their traces.
using Measure = std::function<std::vector<Trace>(const Program& program)>;

// What a calibration is for: the layout and the model of a scenario on a cluster, and the Programs
// that are to be predicted. Their collectives say which operations, spans and sizes are probed;
// their times are never looked at.
struct CalibrationSubject {
  const Scenario* scenario = nullptr;
  const Cluster* cluster = nullptr;
  std::vector<Program> programs;
  bool with_operations = true;  // false: they are modelled, and not probed
};

// A line whose medians lie further off than this is not kept: the profile gets the measured table.
inline constexpr double kWorstResidual = 0.1;

// How many Programs a calibration runs.
int num_probes(const CalibrationSubject& subject);

// Probes collectives (operations x sizes x spans), compute operations (forward and backward, by
// FLOPs where they have any, else by bytes), launches, and two collectives at once, and fits a
// profile to them. The caller adds its name, source and environment.
Profile calibrate(const CalibrationSubject& subject, const Measure& measure);

}  // namespace moesim
