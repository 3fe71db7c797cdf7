#pragma once

#include <functional>
#include <vector>

#include "calibration/probe_plan.h"
#include "sim/io/profile.h"
#include "sim/io/program.h"
#include "sim/io/trace.h"

namespace moesim {

// Runs a Program on the backend until enough runs are accepted, and gives their traces.
using Measure = std::function<std::vector<Trace>(const Program& program)>;

// Measures the probes and fits a profile to them: operations by FLOPs where they have any, else by
// bytes. The caller adds its name, source and environment.
Profile calibrate(const ProbePlan& plan, const Measure& measure);

}  // namespace moesim
