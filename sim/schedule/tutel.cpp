#include "sim/schedule/definitions.h"
#include "sim/schedule/gradient_policies.h"

namespace moesim {
namespace {

// Tutel (MLSys'23) with PipeMoE's degree: one communication at a time, backward in reverse chunk
// order (the authors' public code).
constexpr PipelinePolicy kTutel{.overlap_intra_with_inter = false, .reverse_backward_chunks = true};

ScheduleDefinition define(const char* name, GradientPlan (*gradient)(const Scenario&)) {
  ScheduleDefinition definition;
  definition.name = name;
  definition.choice = DegreeChoice::kShared;
  definition.build = pipelined(name, kTutel, gradient);
  definition.paper = pipemoe_choice(kTutel);
  return definition;
}

}  // namespace

ScheduleDefinition tutel() {
  return define("tutel", serial_gradient);
}

// FSMoE's Tutel-Improved: the gradient AllReduce under the attention backward.
ScheduleDefinition tutel_improved() {
  ScheduleDefinition definition = define("tutel_improved", gradient_under_attention);
  definition.build_serial = pipelined("tutel_improved", kTutel, serial_gradient);
  return definition;
}

}  // namespace moesim
