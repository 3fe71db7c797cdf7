#pragma once

#include "sim/io/gpu_check.h"
#include "sim/io/internal/fields.h"

namespace moesim::io {

// What one process probed, with what each kind of probe needs and nothing else, in times and rates
// that a GPU can have. Throws Error, located.
GpuProbes read_gpu_probes(const Fields& fields);

// Of all processes together: the same GPU, driver and libraries as the check's own environment
// says, and no probe twice in a group. Throws Error, located in `root`.
void check_probes_agree(const Fields& root,
                        const std::vector<std::string>& environment,
                        const std::vector<GpuProbes>& probes);

// A time of more than an hour is no measurement.
inline constexpr std::int64_t kMaxMeasuredPicoseconds = 3'600'000'000'000'000;

}  // namespace moesim::io
