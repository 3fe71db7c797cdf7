#include <numeric>
#include <utility>
#include <vector>

#include "sim/schedule/definitions.h"
#include "sim/schedule/gradient_policies.h"
#include "sim/schedule/paper_degrees.h"

namespace moesim {
namespace {

constexpr PipelinePolicy kFsmoe{.overlap_intra_with_inter = true};
constexpr PipelinePolicy kNoIio{.overlap_intra_with_inter = false};

// Step 2 chooses a degree per layer together with its slice, in each stage alike.
Degrees degrees_of_partition(const RoutedScenario& scenario,
                             const PipelinePolicy& policy,
                             const Degrees& found,
                             const Evaluator& evaluator) {
  Degrees degrees = found;
  if (scenario.parallel.dp == 1) {
    return degrees;
  }
  std::vector<int> all(kMaxDegree);
  std::iota(all.begin(), all.end(), 1);
  const auto stage_layers = static_cast<size_t>(scenario.stage_model().layers);
  const std::vector<std::vector<int>> allowed(stage_layers, all);
  const LayerProbe probe(scenario, policy, evaluator);
  const Partition partition =
      partition_gradient(partition_problem(probe, scenario, policy, allowed));
  for (size_t end = stage_layers; end <= degrees.backward.size(); end += stage_layers) {
    for (size_t i = 0; i < partition.degrees.size(); ++i) {
      degrees.backward[end - 2 - i] = partition.degrees[i];
    }
  }
  return degrees;
}

ScheduleDefinition define(const char* name, const PipelinePolicy& policy) {
  ScheduleDefinition definition;
  definition.name = name;
  definition.choice = DegreeChoice::kSeparate;
  definition.build = [name, policy](const RoutedScenario& scenario,
                                    const Degrees& degrees,
                                    const Evaluator& evaluator) {
    GradientPlan gradients = adaptive_gradient(scenario, policy, degrees, evaluator);
    return Pipeline(scenario, name, policy, degrees, std::move(gradients)).build();
  };
  definition.build_serial = pipelined(name, policy, serial_gradient);
  definition.paper = [policy](const RoutedScenario& scenario, const Evaluator& evaluator) {
    return fsmoe_degrees(scenario, policy, evaluator);
  };
  definition.refine =
      [policy](const RoutedScenario& scenario, const Degrees& found, const Evaluator& evaluator) {
        return degrees_of_partition(scenario, policy, found, evaluator);
      };
  return definition;
}

}  // namespace

// FSMoE (ASPLOS'25): separate degrees, adaptive gradient partitioning, intra- and inter-node
// communication at the same time.
ScheduleDefinition fsmoe() {
  return define("fsmoe", kFsmoe);
}

// FSMoE's No-IIO, without intra-inter overlap: one communication at a time.
ScheduleDefinition fsmoe_no_iio() {
  return define("fsmoe_no_iio", kNoIio);
}

}  // namespace moesim
