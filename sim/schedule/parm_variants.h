#pragma once

#include "sim/io/program.h"
#include "sim/io/scenario.h"

namespace moesim {

// Parm's three flows (papers: section 2; the task lists are assumed, see docs/model.md).
Program build_parm_baseline(const Scenario& scenario);
Program build_parm_s1(const Scenario& scenario);
Program build_parm_s2(const Scenario& scenario);

}  // namespace moesim
