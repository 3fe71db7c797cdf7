#pragma once

#include <string>

#include "calibration/crosscheck.h"
#include "sim/io/gpu_check.h"
#include "sim/io/inputs.h"

namespace moesim {

// A crosscheck of runs that were made elsewhere: a profile is calibrated from the recorded runs of
// the scenario's probes, its schedules are predicted from that, and stand beside their recorded
// runs. Schedules that were not recorded are named in `not_run`. Throws Error, located at `path`,
// where a probe or the baseline was not recorded: the file is of another version, or its run was
// cut off.
Crosscheck recorded_crosscheck(const GpuCheck& check,
                               const Inputs& inputs,
                               const std::string& path);

}  // namespace moesim
