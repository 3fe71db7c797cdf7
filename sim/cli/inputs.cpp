#include "sim/cli/inputs.h"

#include "sim/schedule/schedule.h"

namespace moesim {

Inputs load_inputs(const ScenarioOptions& options) {
  return load_inputs(
      options.scenario, options.cluster, options.profile, options.overrides, schedule_names());
}

}  // namespace moesim
