#pragma once

#include <vector>

#include "sim/cli/validate/finding.h"
#include "sim/io/gpu_check.h"

namespace moesim::validation {

// What the probes of a GPU say, with their uncertainties: a table for each kind of finding that
// there is, and what was not measured or was rejected.
void add_probe_tables(const std::vector<GpuProbes>& probes, SectionWriter& writer);

}  // namespace moesim::validation
