#include "sim/cli/validate/equality_cases.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace moesim::validation {
namespace {

// On 4 and 8 ranks, mp = esp and not, with and without edp.
constexpr ParallelConfig kLayouts[] = {
    {.mp = 2, .dp = 2, .esp = 2, .ep = 2, .edp = 1},
    {.mp = 1, .dp = 4, .esp = 2, .ep = 2, .edp = 1},
    {.mp = 2, .dp = 2, .esp = 1, .ep = 2, .edp = 2},
    {.mp = 1, .dp = 4, .esp = 1, .ep = 4, .edp = 1},
    {.mp = 2, .dp = 4, .esp = 2, .ep = 4, .edp = 1},
    {.mp = 4, .dp = 2, .esp = 4, .ep = 2, .edp = 1},
    {.mp = 2, .dp = 4, .esp = 2, .ep = 2, .edp = 2},
    {.mp = 4, .dp = 2, .esp = 2, .ep = 4, .edp = 1},
    {.mp = 2, .dp = 4, .esp = 1, .ep = 8, .edp = 1},
};

// On stages of 2 to 4 ranks, with their micro-batches.
struct StagedLayout {
  ParallelConfig parallel;
  PipelineConfig pipeline;
};

constexpr StagedLayout kStagedLayouts[] = {
    {{.mp = 2, .dp = 1, .esp = 2, .ep = 1, .edp = 1, .pp = 2}, {2, StageOrder::kGpipe}},
    {{.mp = 1, .dp = 2, .esp = 1, .ep = 2, .edp = 1, .pp = 2},
     {3, StageOrder::kOneForwardOneBackward}},
    {{.mp = 2, .dp = 2, .esp = 2, .ep = 2, .edp = 1, .pp = 2},
     {4, StageOrder::kOneForwardOneBackward}},
    {{.mp = 1, .dp = 2, .esp = 1, .ep = 1, .edp = 2, .pp = 4},
     {4, StageOrder::kOneForwardOneBackward}},
};

bool can_run(const std::string& schedule, const ParallelConfig& parallel) {
  return schedule != "parm_baseline" || parallel.mp == parallel.esp;
}

}  // namespace

const char* to_string(Load load) {
  constexpr const char* kNames[] = {"balanced", "skewed", "drops"};
  return kNames[static_cast<size_t>(load)];
}

std::vector<ParallelConfig> layouts_to_try(const std::string& schedule) {
  std::vector<ParallelConfig> layouts;
  for (const ParallelConfig& parallel : kLayouts) {
    if (can_run(schedule, parallel)) {
      layouts.push_back(parallel);
    }
  }
  return layouts;
}

Scenario equality_scenario(const ParallelConfig& parallel, Load load) {
  Scenario scenario;
  scenario.path = scenario.name = "equality";
  ModelConfig& model = scenario.model;
  model.layers = 2;
  model.batch = 2;
  model.sequence = 24;
  model.embedding = model.hidden = 8;
  model.heads = model.kv_heads = 4;
  model.experts = parallel.ep == 8 ? 8 : 4;
  model.top_k = 2;
  model.attention = AttentionMask::kCausal;
  scenario.parallel = parallel;
  if (load == Load::kSkewed) {
    scenario.routing.kind = RoutingKind::kZipf;
    scenario.routing.zipf_exponent = 1;
  } else if (load == Load::kDrops) {
    model.capacity_factor = 0.75;
  }
  return scenario;
}

std::vector<Degrees> degrees_to_try(const std::string& schedule, const Scenario& scenario) {
  const int layers = scenario.model.layers;
  std::vector<Degrees> all;
  if (schedule == "sp_moe") {
    const bool causal = scenario.model.attention == AttentionMask::kCausal;
    for (const auto& [moe, non_moe] :
         {std::pair{1, 1}, {3, 1}, {2, 2}, {3, 3}, {4, 2}, {2, 4}, {8, 4}}) {
      if (causal || non_moe == 1) {
        all.push_back(Degrees::uniform(layers, moe, moe, non_moe));
      }
    }
    return all;
  }
  if (schedule.starts_with("parm") || schedule == "deepspeed_moe") {
    return {Degrees::uniform(layers, 1, 1)};
  }
  for (const int degree : {1, 2, 3, 4, 8}) {
    all.push_back(Degrees::uniform(layers, degree, degree));
  }
  if (schedule.starts_with("fsmoe")) {
    for (const auto& [forward, backward] : {std::pair{2, 3}, {4, 1}, {3, 8}}) {
      all.push_back(Degrees::uniform(layers, forward, backward));
    }
  }
  return all;
}

namespace {

Scenario staged_scenario(const StagedLayout& layout, Load load) {
  Scenario scenario = equality_scenario(layout.parallel, load);
  scenario.pipeline = layout.pipeline;
  scenario.model.layers = 4;
  scenario.model.batch *= layout.pipeline.micro_batches;
  scenario.model.sequence = 8;
  return scenario;
}

// Two of the degrees to try: what a stage does with them does not depend on the others.
void add_staged_cases(const std::string& schedule, std::vector<EqualityCase>& cases) {
  for (const StagedLayout& layout : kStagedLayouts) {
    if (!can_run(schedule, layout.parallel)) {
      continue;
    }
    for (const Load load : {Load::kBalanced, Load::kSkewed, Load::kDrops}) {
      const Scenario scenario = staged_scenario(layout, load);
      const std::vector<Degrees> all = degrees_to_try(schedule, scenario);
      cases.push_back({schedule, load, scenario, all[std::min<size_t>(1, all.size() - 1)]});
      if (all.size() > 1) {
        cases.push_back({schedule, load, scenario, all.back()});
      }
    }
  }
}

}  // namespace

std::vector<EqualityCase> equality_cases(const std::string& schedule) {
  std::vector<EqualityCase> cases;
  for (const ParallelConfig& parallel : layouts_to_try(schedule)) {
    for (const Load load : {Load::kBalanced, Load::kSkewed, Load::kDrops}) {
      const Scenario scenario = equality_scenario(parallel, load);
      for (const Degrees& degrees : degrees_to_try(schedule, scenario)) {
        cases.push_back({schedule, load, scenario, degrees});
      }
    }
  }
  add_staged_cases(schedule, cases);
  return cases;
}

std::string describe(const Scenario& scenario, const Degrees& degrees) {
  const ModelConfig& model = scenario.model;
  const ParallelConfig& parallel = scenario.parallel;
  return fmt::format(
      "mp {} dp {} esp {} ep {} edp {} pp {}; micro-batches {} order {}; layers {} M {} H {} kv {} "
      "E {} k {} f {} ffn {} mask {} "
      "gate {} recompute {} pad {} routing {} seed {}; degrees {}, {}, {}",
      parallel.mp,
      parallel.dp,
      parallel.esp,
      parallel.ep,
      parallel.edp,
      parallel.pp,
      scenario.pipeline.micro_batches,
      static_cast<int>(scenario.pipeline.order),
      model.layers,
      model.embedding,
      model.hidden,
      model.kv_heads,
      model.experts,
      model.top_k,
      model.capacity_factor.value_or(0),
      static_cast<int>(model.feed_forward),
      static_cast<int>(model.attention),
      static_cast<int>(model.gate),
      static_cast<int>(model.recompute),
      model.pad_capacity,
      static_cast<int>(scenario.routing.kind),
      scenario.seed,
      degrees.forward.front(),
      degrees.backward.front(),
      degrees.non_moe);
}

}  // namespace moesim::validation
