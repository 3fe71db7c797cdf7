#pragma once

#include "sim/io/program.h"
#include "sim/schedule/routed_scenario.h"

namespace moesim {

// Parm's three flows (INFOCOM'24; the lists of tasks are assumed, see docs/model.md).
Program build_parm_baseline(const RoutedScenario& scenario);
Program build_parm_s1(const RoutedScenario& scenario);
Program build_parm_s2(const RoutedScenario& scenario);

}  // namespace moesim
