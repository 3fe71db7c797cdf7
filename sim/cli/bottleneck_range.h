#pragma once

#include <vector>

#include "sim/cli/subject.h"
#include "sim/report/bottleneck_range.h"

namespace moesim {

// Simulates subjects that share cluster and profile once for every place where the measured times
// of collectives may be spent; degrees that `plan` and the scenario leave open are chosen anew each
// time. Throws Error where the profile has measured none that the Programs use.
BottleneckRange bottleneck_range(const std::vector<Subject>& subjects,
                                 const PlanOptions& plan,
                                 Resolution resolution);

}  // namespace moesim
