#include "sim/schedule/definitions.h"
#include "sim/schedule/gradient_policies.h"
#include "sim/schedule/paper_degrees.h"

namespace moesim {
namespace {

// Tutel with PipeMoE's degree: one communication at a time, backward in reverse chunk order (code).
constexpr PipelinePolicy kTutel{.overlap_intra_with_inter = false, .reverse_backward_chunks = true};

ScheduleDefinition define(const char* name, GradientPlan (*gradient)(const Scenario&)) {
  ScheduleDefinition definition;
  definition.name = name;
  definition.choice = DegreeChoice::kShared;
  definition.build = [name, gradient](
                         const RoutedScenario& scenario, const Degrees& degrees, const Evaluator&) {
    return Pipeline(scenario, name, kTutel, degrees, gradient(scenario)).build();
  };
  if (gradient != serial_gradient) {
    definition.build_serial = define(name, serial_gradient).build;
  }
  definition.paper = [](const RoutedScenario& scenario, const Evaluator& evaluator) {
    return pipemoe_degree(scenario, kTutel, evaluator);
  };
  return definition;
}

}  // namespace

ScheduleDefinition tutel() {
  return define("tutel", serial_gradient);
}

// FSMoE's Tutel-Improved: the gradient AllReduce under the attention backward.
ScheduleDefinition tutel_improved() {
  return define("tutel_improved", gradient_under_attention);
}

}  // namespace moesim
