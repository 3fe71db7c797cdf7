#pragma once

#include "sim/schedule/closed_form.h"
#include "sim/schedule/region_model.h"

namespace moesim {

// Policy `paper`: degrees by the closed forms and the rules of the schedules' authors.

// Seconds of a pass's chunks at one degree, as the closed forms take them: the first chunk's.
ChunkTimes chunk_times(const RegionTimes& times);

// How a region's time depends on its slice by the closed form that fits the streams: FSMoE's cases,
// where the slice shares its stream with the AlltoAlls (2ra) alone; with one communication at a
// time with all of r*c. `times.gar` is taken for zero.
RegionLine closed_form_line(int r, const ChunkTimes& times, bool overlap_intra_with_inter);

// PipeMoE's degree for both passes: the r of 1..8 whose closed form is least over forward and
// backward (PipeMoE, section 4; the smaller r where equal).
Degrees pipemoe_degree(const RoutedScenario& scenario,
                       const PipelinePolicy& policy,
                       const Evaluator& evaluator);

// FSMoE's degrees (section 4) with the rules of the authors' public code: r of {1, 2, 4, 8} by the
// closed form; forward 1 where the whole AlltoAll is short, and backward 1 where forward is 1; a
// backward degree per layer that knows its gradient slice. Without intra-inter overlap the authors
// give no form: the same rules with the form of one communication at a time (derived).
Degrees fsmoe_degrees(const RoutedScenario& scenario,
                      const PipelinePolicy& policy,
                      const Evaluator& evaluator);

}  // namespace moesim
