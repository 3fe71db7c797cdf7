#include <algorithm>
#include <utility>

#include "sim/schedule/definitions.h"
#include "sim/schedule/gradient_policies.h"

namespace moesim {
namespace {

constexpr PipelinePolicy kPipeMoe{};  // one communication at a time

GradientPlan lina_gradient(const RoutedScenario& scenario,
                           const Degrees& degrees,
                           const Evaluator& evaluator) {
  if (scenario.parallel.dp == 1) {
    return serial_gradient(scenario);
  }
  const LayerProbe probe(scenario, kPipeMoe, evaluator);
  const int64_t row_bytes = int64_t{scenario.model.embedding} * size_of(scenario.model.dtype);
  const int64_t chunk_rows =
      std::clamp<int64_t>(scenario.gradient_chunk_bytes / row_bytes, 1, 1 << 30);
  return plan_stages(scenario, degrees.backward, [&](const std::vector<int>& stage) {
    return gradient_in_fixed_chunks(partition_problem(probe, scenario, kPipeMoe, stage),
                                    static_cast<int>(chunk_rows));
  });
}

}  // namespace

// PipeMoE (INFOCOM'23): one degree for both passes, the gradient not overlapped.
ScheduleDefinition pipemoe() {
  ScheduleDefinition definition;
  definition.name = "pipemoe";
  definition.choice = DegreeChoice::kShared;
  definition.build = pipelined("pipemoe", kPipeMoe, serial_gradient);
  definition.paper = pipemoe_choice(kPipeMoe);
  return definition;
}

// PipeMoE with Lina's gradient (ATC'23): equal micro-operations of a fixed size that start whenever
// no AlltoAll wants the network, and are not interrupted.
ScheduleDefinition lina() {
  ScheduleDefinition definition;
  definition.name = "lina";
  definition.choice = DegreeChoice::kShared;
  definition.build_serial = pipelined("lina", kPipeMoe, serial_gradient);
  definition.build =
      [](const RoutedScenario& scenario, const Degrees& degrees, const Evaluator& evaluator) {
        GradientPlan gradients = lina_gradient(scenario, degrees, evaluator);
        return Pipeline(scenario, "lina", kPipeMoe, degrees, std::move(gradients)).build();
      };
  definition.paper = pipemoe_choice(kPipeMoe);
  return definition;
}

}  // namespace moesim
