#include "sim/schedule/definitions.h"

#include "sim/schedule/paper_degrees.h"

namespace moesim {

ScheduleDefinition::Build pipelined(const char* schedule,
                                    const PipelinePolicy& policy,
                                    GradientPlan (*gradient)(const Scenario&)) {
  return [=](const RoutedScenario& scenario, const Degrees& degrees, const Evaluator&) {
    return Pipeline(scenario, schedule, policy, degrees, gradient(scenario)).build();
  };
}

ScheduleDefinition::Choose pipemoe_choice(const PipelinePolicy& policy) {
  return [=](const RoutedScenario& scenario, const Evaluator& evaluator) {
    return pipemoe_degree(scenario, policy, evaluator);
  };
}

}  // namespace moesim
