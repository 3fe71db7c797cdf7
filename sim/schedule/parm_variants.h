#pragma once

#include "sim/io/program.h"
#include "sim/io/scenario.h"

namespace moesim {

// The three flows of Parm (INFOCOM'24, arXiv 2407.00599); the task lists are assumed, see
// docs/model.md.
Program build_parm_baseline(const Scenario& scenario);
Program build_parm_s1(const Scenario& scenario);
Program build_parm_s2(const Scenario& scenario);

}  // namespace moesim
