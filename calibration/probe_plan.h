#pragma once

#include <vector>

#include "calibration/probes.h"
#include "sim/io/cluster.h"
#include "sim/io/profile.h"
#include "sim/io/program.h"
#include "sim/io/scenario.h"

namespace moesim {

// What a calibration is for: the layout and the model of a scenario on a cluster, and the Programs
// that are to be predicted. Their collectives say which operations, spans and sizes are probed;
// their times are never looked at.
struct CalibrationSubject {
  const Scenario* scenario = nullptr;
  const Cluster* cluster = nullptr;
  std::vector<Program> programs;
  bool with_operations = true;  // false: they are modelled, and not probed
};

// A collective over the group of a span, at several sizes.
struct PlannedCollective {
  CollectiveOperation operation{};
  Span span{};
  int group_size = 0;
  Probe probe;
};

// All that a calibration runs.
struct ProbePlan {
  const Cluster* cluster = nullptr;
  Probe launches;
  std::vector<PlannedCollective> collectives;
  std::vector<Probe> pairs;  // two collectives at once
  std::vector<Probe> operations;
};

// Collectives (operations x sizes x spans), two at once, compute operations on parts of the
// scenario's sequence, and launches.
ProbePlan plan_probes(const CalibrationSubject& subject);

std::vector<Program> programs_of(const ProbePlan& plan);

}  // namespace moesim
