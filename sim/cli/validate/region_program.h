#pragma once

#include "sim/base/time.h"
#include "sim/io/program.h"
#include "sim/schedule/closed_form.h"
#include "sim/schedule/pipeline.h"

namespace moesim::validation {

// The backward MoE region of a two-layer Program of four ranks, built by the schedules' pipeline:
// its streams, order and derived waits. Its steps take given times and everything else takes none,
// so that the iteration ends with the region.
class RegionProgram {
 public:
  // With a gradient slice in the region where `has_slice`.
  RegionProgram(const PipelinePolicy& policy, int degree, bool has_slice);

  // The simulated time of the region, for whole picoseconds.
  [[nodiscard]] Time simulate(const ChunkTimes& picoseconds) const;

 private:
  Program program_;
};

}  // namespace moesim::validation
