#pragma once

#include "sim/schedule/region_model.h"

namespace moesim {

// Seconds of a pass's chunks at one degree, as the closed forms take them: the first chunk's.
struct ChunkTimes;
ChunkTimes chunk_times(const RegionTimes& times);

// PipeMoE's degree for both passes: the r of 1..8 whose closed form is least over forward and
// backward (PipeMoE, section 4; the smaller r where equal).
Degrees pipemoe_degree(const RoutedScenario& scenario,
                       const PipelinePolicy& policy,
                       const Evaluator& evaluator);

}  // namespace moesim
