#include "sim/schedule/definitions.h"
#include "sim/schedule/gradient_policies.h"
#include "sim/schedule/pipeline.h"

namespace moesim {

// DS-MoE as the FSMoE paper compares it: the same flow with everything serial.
ScheduleDefinition deepspeed_moe() {
  ScheduleDefinition definition;
  definition.name = "deepspeed_moe";
  definition.build = [](const RoutedScenario& scenario, const Degrees&, const Evaluator&) {
    const Degrees serial = Degrees::uniform(scenario.model.layers, 1, 1);
    return Pipeline(scenario, "deepspeed_moe", {}, serial, serial_gradient(scenario)).build();
  };
  return definition;
}

}  // namespace moesim
