#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/cli/validate/sections.h"
#include "sim/io/gpu_check.h"

namespace moesim {

// The scenario of four ranks with a small model, and these schedules.
Inputs small_gpu_check(const std::vector<std::string>& schedules);

// Small scenarios of two schedules, timed and compared.
validation::GpuStudy small_gpu_study();

// A whole check of the study's scenarios, every part done. No GPU made it: the simulator "measured"
// the Programs, a SimulatedGpu the probes.
GpuCheck recorded_check(const validation::GpuStudy& study, std::uint64_t seed);

// The file that tests/gpu/run.sh would write.
std::string to_json(const GpuCheck& check);

}  // namespace moesim
