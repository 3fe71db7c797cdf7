#pragma once

#include <functional>
#include <vector>

#include "sim/schedule/gradient_plan.h"
#include "sim/schedule/partition.h"
#include "sim/schedule/pipeline.h"

namespace moesim {

// Plans are made for each stage by itself, whose gradients nobody else adds to, and stand one
// behind the other. Slots are those of the last micro-batch, which completes the gradients.

// The plans of all stages, each made from its layers' backward degrees. Equal stages share one.
GradientPlan plan_stages(const Scenario& scenario,
                         const std::vector<int>& degrees,
                         const std::function<GradientPlan(const std::vector<int>&)>& plan_stage);

// Rows of the dense gradient that one layer makes.
int gradient_rows(const Scenario& scenario);

// Every layer's gradient is reduced right after its attention backward.
GradientPlan serial_gradient(const Scenario& scenario);

// A layer's gradient is reduced in the dense slot of the layer below it.
GradientPlan gradient_under_attention(const Scenario& scenario);

// AllReduces of `chunk_rows` rows fill the time that communication would be idle; a started one is
// not interrupted, so the last may reach beyond it (Lina).
GradientPlan gradient_in_fixed_chunks(const PartitionProblem& problem, int chunk_rows);

// The partitioner's problem for a stage; `degrees[i]` lists the degrees that its layer i may use.
PartitionProblem partition_problem(const LayerProbe& probe,
                                   const Scenario& scenario,
                                   const PipelinePolicy& policy,
                                   const std::vector<std::vector<int>>& degrees);
// The same where each layer may use one degree alone.
PartitionProblem partition_problem(const LayerProbe& probe,
                                   const Scenario& scenario,
                                   const PipelinePolicy& policy,
                                   const std::vector<int>& degrees);

// FSMoE's adaptive partitioning at the given backward degrees.
GradientPlan adaptive_gradient(const RoutedScenario& scenario,
                               const PipelinePolicy& policy,
                               const Degrees& degrees,
                               const Evaluator& evaluator);

}  // namespace moesim
