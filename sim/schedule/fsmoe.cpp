#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include "sim/schedule/closed_form.h"
#include "sim/schedule/definitions.h"
#include "sim/schedule/gradient_policies.h"
#include "sim/schedule/shared_degree.h"

namespace moesim {
namespace {

constexpr PipelinePolicy kFsmoe{.overlap_intra_with_inter = true};
constexpr PipelinePolicy kNoIio{.overlap_intra_with_inter = false};

// The degrees that the authors' code allows, and two of its rules (code).
constexpr std::array kPaperDegrees{1, 2, 4, 8};
constexpr double kShortAllToAll = 1e-3;       // seconds; below it r_forward = 1
constexpr double kDiscount = 0.7;             // of the expert overlap that gradients may use
constexpr double kLeastExpertOverlap = 5e-3;  // seconds beyond the attention's time

using TimesByDegree = std::map<int, LayerTimes>;

int best_degree(const TimesByDegree& times, bool backward, double gar) {
  int best = 1;
  double least = std::numeric_limits<double>::infinity();
  for (const auto& [degree, layer] : times) {
    ChunkTimes chunk = chunk_times(backward ? layer.backward : layer.forward);
    chunk.gar = gar;
    const double seconds = fsmoe_time(degree, chunk);
    if (seconds < least) {
      least = seconds;
      best = degree;
    }
  }
  return best;
}

// The authors' split of a gradient that step 1 hides completely: what MoE regions take is
// discounted (FSMoE's public code).
int discounted_slice(const LayerTimes& layer, int degree, int rows, const ReductionTime& ar) {
  const ChunkTimes t = chunk_times(layer.backward);
  const double communication = t.a > t.g ? 2 * (degree - 1) * t.a : (degree - 1) * (t.g + t.s);
  double overlap = std::max(0.0, degree * t.e - communication);
  const double dense = layer.backward.dense_slot;
  overlap = overlap < dense + kLeastExpertOverlap ? 0 : kDiscount * overlap;
  const double total = ar.of(rows);
  const double in_region = std::min(total, overlap);
  const double in_dense = std::min(std::max(0.0, total - overlap), dense);
  const double rest = total - in_region - in_dense;
  return in_dense == 0 ? rows : std::min(rows, ar.rows_within(in_region + rest));
}

Degrees paper_degrees(const Scenario& scenario,
                      const PipelinePolicy& policy,
                      const Evaluator& evaluator) {
  const LayerProbe probe(scenario, policy, evaluator);
  TimesByDegree times;
  for (const int degree : kPaperDegrees) {
    times.emplace(degree, probe.times(degree, degree));
  }
  int forward = best_degree(times, false, 0);
  const std::vector<double>& whole = times.at(1).forward.dispatch;
  if (!whole.empty() && whole.front() < kShortAllToAll) {
    forward = 1;
  }
  const int layers = scenario.model.layers;
  const int backward = forward == 1 ? 1 : best_degree(times, true, 0);
  Degrees degrees = Degrees::uniform(layers, forward, backward);
  if (forward == 1 || scenario.parallel.dp == 1) {
    return degrees;
  }
  PartitionProblem problem;
  problem.rows_per_layer = gradient_rows(scenario);
  problem.reduction = probe.reduction();
  PartitionLayer layer;
  for (const auto& [degree, layer_times] : times) {
    const ChunkTimes chunk = chunk_times(layer_times.backward);
    layer.regions.push_back({degree, fsmoe_time(degree, chunk), 2 * degree * chunk.a});
    layer.dense_slot = layer_times.backward.dense_slot;
  }
  problem.layers.assign(static_cast<size_t>(layers) - 1, layer);
  const Partition partition = partition_gradient(problem);
  const int carried =
      std::accumulate(partition.region_rows.begin(), partition.region_rows.end(), 0) +
      std::accumulate(partition.dense_rows.begin(), partition.dense_rows.end(), 0);
  const bool all_hidden = carried == problem.rows_per_layer * (layers - 1);
  for (size_t i = 0; i < partition.region_rows.size(); ++i) {
    int slice = partition.region_rows[i];
    if (all_hidden) {
      slice =
          discounted_slice(times.at(backward), backward, problem.rows_per_layer, problem.reduction);
    }
    degrees.backward[degrees.backward.size() - 2 - i] =
        best_degree(times, true, problem.reduction.of(slice));
  }
  return degrees;
}

// Step 2 chooses a degree per layer together with its slice.
Degrees degrees_of_partition(const Scenario& scenario,
                             const PipelinePolicy& policy,
                             const Degrees& found,
                             const Evaluator& evaluator) {
  Degrees degrees = found;
  if (scenario.parallel.dp == 1) {
    return degrees;
  }
  std::vector<int> all(kMaxDegree);
  std::iota(all.begin(), all.end(), 1);
  const std::vector<std::vector<int>> allowed(degrees.backward.size(), all);
  const LayerProbe probe(scenario, policy, evaluator);
  const Partition partition =
      partition_gradient(partition_problem(probe, scenario, policy, allowed));
  for (size_t i = 0; i < partition.degrees.size(); ++i) {
    degrees.backward[degrees.backward.size() - 2 - i] = partition.degrees[i];
  }
  return degrees;
}

ScheduleDefinition define(const char* name, const PipelinePolicy& policy) {
  ScheduleDefinition definition;
  definition.name = name;
  definition.choice = DegreeChoice::kSeparate;
  definition.build =
      [name, policy](const Scenario& scenario, const Degrees& degrees, const Evaluator& evaluator) {
        GradientPlan gradients = adaptive_gradient(scenario, policy, degrees, evaluator);
        return Pipeline(scenario, name, policy, degrees, std::move(gradients)).build();
      };
  definition.build_serial =
      [name, policy](const Scenario& scenario, const Degrees& degrees, const Evaluator&) {
        return Pipeline(scenario, name, policy, degrees, serial_gradient(scenario)).build();
      };
  definition.paper = [policy](const Scenario& scenario, const Evaluator& evaluator) {
    return paper_degrees(scenario, policy, evaluator);
  };
  definition.refine =
      [policy](const Scenario& scenario, const Degrees& found, const Evaluator& evaluator) {
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

// Without intra-inter overlap.
ScheduleDefinition fsmoe_no_iio() {
  return define("fsmoe_no_iio", kNoIio);
}

}  // namespace moesim
