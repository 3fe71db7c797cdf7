#include "sim/schedule/gradient_policies.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "sim/model/sizes.h"

namespace moesim {
namespace {

GradientPlan empty_plan(const Scenario& scenario) {
  return {std::vector<GradientSlots>(static_cast<size_t>(scenario.model.layers))};
}

// The slots of the i-th layer in back-propagation order below the last one.
GradientSlots& slots_below(GradientPlan& plan, size_t i) {
  return plan.layers[plan.layers.size() - 2 - i];
}

// The slots of a partition of a model with `layers` layers.
GradientPlan to_plan(const Partition& partition, int layers) {
  GradientPlan plan;
  plan.layers.resize(static_cast<size_t>(layers));
  for (size_t i = 0; i < partition.region_rows.size(); ++i) {
    slots_below(plan, i).region = {partition.region_rows[i]};
    slots_below(plan, i).dense = {partition.dense_rows[i]};
  }
  return plan;
}

}  // namespace

GradientPlan plan_stages(const Scenario& scenario,
                         const std::vector<int>& degrees,
                         const std::function<GradientPlan(const std::vector<int>&)>& plan_stage) {
  const auto layers = static_cast<std::ptrdiff_t>(scenario.stage_model().layers);
  GradientPlan plan;
  GradientPlan of_stage;
  std::vector<int> planned;
  for (auto first = degrees.begin(); first != degrees.end(); first += layers) {
    std::vector<int> own(first, first + layers);
    if (own != planned) {
      of_stage = plan_stage(own);
      planned = std::move(own);
    }
    plan.layers.insert(plan.layers.end(), of_stage.layers.begin(), of_stage.layers.end());
  }
  return plan;
}

int gradient_rows(const Scenario& scenario) {
  return layer_sizes(scenario.model, scenario.parallel).attention_weight_rows();
}

GradientPlan serial_gradient(const Scenario& scenario) {
  GradientPlan plan = empty_plan(scenario);
  for (GradientSlots& slots : plan.layers) {
    slots.after = {gradient_rows(scenario)};
  }
  return plan;
}

GradientPlan gradient_under_attention(const Scenario& scenario) {
  GradientPlan plan = empty_plan(scenario);
  const auto stage_layers = static_cast<size_t>(scenario.stage_model().layers);
  for (size_t i = 0; i < plan.layers.size(); ++i) {
    if ((i + 1) % stage_layers != 0) {  // a stage's last layer has none above it
      plan.layers[i].dense = {gradient_rows(scenario)};
    }
  }
  return plan;
}

GradientPlan gradient_in_fixed_chunks(const PartitionProblem& problem, int chunk_rows) {
  GradientPlan plan;
  plan.layers.resize(problem.layers.size() + 1);
  const double chunk_seconds = problem.reduction.of(chunk_rows);
  int available = 0;
  const auto take = [&](double idle_seconds) {
    const int most = available / chunk_rows;
    int count = most;
    if (chunk_seconds > 0) {
      const double wanted = std::ceil(idle_seconds / chunk_seconds);
      count = static_cast<int>(std::min(wanted, static_cast<double>(most)));
    }
    available -= count * chunk_rows;
    return std::vector<int>(static_cast<size_t>(count), chunk_rows);
  };
  for (size_t i = 0; i < problem.layers.size(); ++i) {
    available += problem.rows_per_layer;
    GradientSlots& slots = slots_below(plan, i);
    slots.region = take(problem.layers[i].regions.front().hidden());
    slots.dense = take(problem.layers[i].dense_slot);
  }
  return plan;
}

PartitionProblem partition_problem(const LayerProbe& probe,
                                   const Scenario& scenario,
                                   const PipelinePolicy& policy,
                                   const std::vector<std::vector<int>>& degrees) {
  PartitionProblem problem;
  problem.rows_per_layer = gradient_rows(scenario);
  problem.reduction = probe.reduction();
  std::map<int, LayerTimes> times;
  for (size_t i = 0; i + 1 < degrees.size(); ++i) {
    PartitionLayer layer;
    for (const int degree : degrees[degrees.size() - 2 - i]) {
      auto found = times.find(degree);
      if (found == times.end()) {
        found = times.emplace(degree, probe.times(degree, degree)).first;
      }
      const RegionTimes& backward = found->second.backward;
      RegionLine line = region_line(backward, policy.overlap_intra_with_inter);
      line.degree = degree;
      layer.regions.push_back(line);
      layer.dense_slot = backward.dense_slot;
    }
    problem.layers.push_back(std::move(layer));
  }
  return problem;
}

PartitionProblem partition_problem(const LayerProbe& probe,
                                   const Scenario& scenario,
                                   const PipelinePolicy& policy,
                                   const std::vector<int>& degrees) {
  std::vector<std::vector<int>> allowed;
  for (const int degree : degrees) {
    allowed.push_back({degree});
  }
  return partition_problem(probe, scenario, policy, allowed);
}

GradientPlan adaptive_gradient(const RoutedScenario& scenario,
                               const PipelinePolicy& policy,
                               const Degrees& degrees,
                               const Evaluator& evaluator) {
  if (scenario.parallel.dp == 1) {
    return empty_plan(scenario);
  }
  const LayerProbe probe(scenario, policy, evaluator);
  return plan_stages(scenario, degrees.backward, [&](const std::vector<int>& stage) {
    const PartitionProblem problem = partition_problem(probe, scenario, policy, stage);
    return to_plan(partition_gradient(problem), static_cast<int>(stage.size()));
  });
}

}  // namespace moesim
