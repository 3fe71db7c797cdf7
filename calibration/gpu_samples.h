#pragma once

#include <vector>

#include "calibration/robust_fit.h"
#include "sim/io/gpu_check.h"

namespace moesim {

// The readings that were not rejected, of one process or several.
std::vector<GpuReading> accepted_readings(const std::vector<GpuProbes>& probes);

// Each time of a reading is a sample of that size.
void add_samples(const GpuReading& reading, double size, std::vector<Sample>& samples);

}  // namespace moesim
