#include <algorithm>

#include "sim/schedule/definitions.h"
#include "sim/schedule/gradient_policies.h"
#include "sim/schedule/paper_degrees.h"

namespace moesim {
namespace {

constexpr PipelinePolicy kPipeMoe{};  // one communication at a time

ScheduleDefinition::Build serial_build(const char* name) {
  return [name](const RoutedScenario& scenario, const Degrees& degrees, const Evaluator&) {
    return Pipeline(scenario, name, kPipeMoe, degrees, serial_gradient(scenario)).build();
  };
}

}  // namespace

// PipeMoE (INFOCOM'23): one degree for both passes, the gradient not overlapped.
ScheduleDefinition pipemoe() {
  ScheduleDefinition definition;
  definition.name = "pipemoe";
  definition.choice = DegreeChoice::kShared;
  definition.build = serial_build("pipemoe");
  definition.paper = [](const RoutedScenario& scenario, const Evaluator& evaluator) {
    return pipemoe_degree(scenario, kPipeMoe, evaluator);
  };
  return definition;
}

// PipeMoE with Lina's gradient (ATC'23): equal micro-operations of a fixed size that start whenever
// no AlltoAll wants the network, and are not interrupted.
ScheduleDefinition lina() {
  ScheduleDefinition definition;
  definition.name = "lina";
  definition.choice = DegreeChoice::kShared;
  definition.build_serial = serial_build("lina");
  definition.build =
      [](const RoutedScenario& scenario, const Degrees& degrees, const Evaluator& evaluator) {
        if (scenario.parallel.dp == 1) {
          return serial_build("lina")(scenario, degrees, evaluator);
        }
        const LayerProbe probe(scenario, kPipeMoe, evaluator);
        std::vector<std::vector<int>> allowed;
        for (const int degree : degrees.backward) {
          allowed.push_back({degree});
        }
        const int64_t row_bytes = int64_t{scenario.model.embedding} * size_of(scenario.model.dtype);
        const int64_t chunk_rows = std::max<int64_t>(1, scenario.gradient_chunk_bytes / row_bytes);
        GradientPlan plan =
            gradient_in_fixed_chunks(partition_problem(probe, scenario, kPipeMoe, allowed),
                                     static_cast<int>(std::min<int64_t>(chunk_rows, 1 << 30)));
        return Pipeline(scenario, "lina", kPipeMoe, degrees, std::move(plan)).build();
      };
  definition.paper = [](const RoutedScenario& scenario, const Evaluator& evaluator) {
    return pipemoe_degree(scenario, kPipeMoe, evaluator);
  };
  return definition;
}

}  // namespace moesim
