#include "sim/report/result.h"

#include <algorithm>
#include <iterator>

#include <fmt/core.h>

#include "sim/analysis/critical_path.h"
#include "sim/analysis/dropping.h"
#include "sim/analysis/usage.h"
#include "sim/base/check.h"
#include "sim/base/units.h"
#include "sim/base/version.h"
#include "sim/model/sizes.h"
#include "sim/program/variation.h"
#include "sim/report/bottleneck.h"
#include "sim/schedule/degrees.h"

namespace moesim {
namespace {

int largest(const std::vector<int>& values) {
  return values.empty() ? 0 : *std::max_element(values.begin(), values.end());
}

bool all_equal(const std::vector<int>& values) {
  return std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) == values.end();
}

// "forward 4, backward 2: 413.001 ms (+0.2 %)"
std::string runner_up_sentence(const Candidate& candidate, Time iteration) {
  std::string text = candidate.variant.empty() ? "" : candidate.variant + " with ";
  text += fmt::format("forward {}, backward {}",
                      largest(candidate.degrees.forward),
                      largest(candidate.degrees.backward));
  if (candidate.degrees.non_moe != 1) {
    text += fmt::format(", non-MoE {}", candidate.degrees.non_moe);
  }
  text += ": " + format_time(candidate.time);
  if (iteration == Time::zero()) {
    return text;
  }
  return text + fmt::format(" ({:+.1f} %)", 100 * (ratio(candidate.time, iteration) - 1));
}

void add_plan(const Plan& plan, Time iteration, SimulationResult& result) {
  const Degrees& degrees = plan.degrees;
  result.policy = plan.policy;
  result.variant = plan.variant;
  result.forward_degree = largest(degrees.forward);
  result.backward_degree = largest(degrees.backward);
  if (result.schedule == "sp_moe") {
    result.non_moe_degree = degrees.non_moe;
  }
  if (!all_equal(degrees.forward) || !all_equal(degrees.backward)) {
    CHECK(degrees.forward.size() == degrees.backward.size());
    for (std::size_t layer = 0; layer < degrees.forward.size(); ++layer) {
      result.degrees.push_back({degrees.forward[layer], degrees.backward[layer]});
    }
  }
  if (plan.runner_up) {
    result.runner_up = runner_up_sentence(*plan.runner_up, iteration);
  }
}

// True where a degree that was left open came out as the largest that is looked at.
bool chose_largest(const Plan& plan, const DegreeConfig& given) {
  if (plan.policy != "search" && plan.policy != "paper") {
    return false;
  }
  const bool forward_open = !is_given(given.forward, given.forward_per_layer);
  const bool backward_open = !is_given(given.backward, given.backward_per_layer);
  return (forward_open && largest(plan.degrees.forward) >= kMaxDegree) ||
         (backward_open && largest(plan.degrees.backward) >= kMaxDegree) ||
         (!given.non_moe && plan.degrees.non_moe >= kMaxDegree);
}

void add_limit(const Plan& plan, const DegreeConfig& given, SimulationResult& result) {
  result.largest_degree_tried = chose_largest(plan, given);
  if (result.largest_degree_tried) {
    result.assumptions.push_back(
        fmt::format("no degree above {0} was tried, and {0} was chosen: a larger one, given by "
                    "--degree, may be faster",
                    kMaxDegree));
  }
}

// Where several micro-batches pass through, not every choice was simulated with all of them.
void add_finalists(const ResultInputs& inputs, SimulationResult& result) {
  if (inputs.plan->policy == "search" && inputs.scenario->pipeline.micro_batches > 1) {
    result.assumptions.push_back(
        fmt::format("degrees: of the {} that were best for one micro-batch alone, the fastest for "
                    "all {} of an iteration; another one may be faster",
                    kFinalists,
                    inputs.scenario->pipeline.micro_batches));
  }
}

// Tokens per second: every mp group has a batch of its own, so dp batches an iteration.
// Model FLOP utilisation = model FLOPs / (iteration * GPUs * the profile's GEMM rate), as PaLM
// (Chowdhery et al. 2022, appendix B) defines it, with the rate that was measured for GEMMs in
// place of the data sheet's peak.
void add_rates(const ResultInputs& inputs, SimulationResult& result) {
  const Scenario* scenario = inputs.scenario;
  if (scenario == nullptr || result.iteration_seconds <= 0) {
    return;
  }
  const double tokens = static_cast<double>(scenario->model.tokens()) * scenario->parallel.dp;
  result.tokens_per_second = tokens / result.iteration_seconds;
  if (inputs.profile != nullptr && inputs.profile->gemm) {
    const double gpu_seconds = result.iteration_seconds * scenario->parallel.world();
    const double flops =
        model_flops(scenario->model, scenario->parallel, kept_share(*inputs.program));
    result.model_flops_utilization = flops * inputs.profile->gemm->seconds_per_flop / gpu_seconds;
  }
}

// Given counts say how choices spread. A gate of other sizes than theirs scales them: one that
// reads a chunk, or rows that do not sum to k choices of each of its tokens.
void add_routing_assumption(const ResultInputs& inputs, SimulationResult& result) {
  const Scenario* scenario = inputs.scenario;
  if (scenario == nullptr || scenario->routing.kind != RoutingKind::kGiven) {
    return;
  }
  const auto& routings = inputs.program->routings;
  const bool scaled = std::any_of(routings.begin(), routings.end(), [&](const Routing& routing) {
    return routing.tokens != scenario->routing.tokens;
  });
  if (scaled) {
    result.assumptions.emplace_back(
        "routing: the given token counts are scaled to the k choices of each token that a gate "
        "reads");
  }
}

void add_variation(const Program& program, SimulationResult& result) {
  if (!varies(program)) {
    return;
  }
  std::ranges::move(variation_assumptions(program), std::back_inserter(result.assumptions));
  ResultVariation& variation = result.variation.emplace();
  variation.jitter = program.jitter;
  if (!program.rank_speed.empty()) {
    const auto [slowest, fastest] = std::ranges::minmax(program.rank_speed);
    variation.slowest = slowest;
    variation.fastest = fastest;
    variation.num_other_speeds = static_cast<int>(
        std::ranges::count_if(program.rank_speed, [](double speed) { return speed != 1; }));
  }
}

void add_memory(const ResultInputs& inputs, SimulationResult& result) {
  if (!inputs.trace->spans.empty()) {
    result.memory = memory_use(*inputs.program, *inputs.trace);
  }
  if (inputs.cluster != nullptr && inputs.cluster->gpu_memory_bytes > 0) {
    result.gpu_memory_bytes = inputs.cluster->gpu_memory_bytes;
    result.fits = result.memory.peak_bytes <= result.gpu_memory_bytes;
  }
}

void add_usage(const Usage& usage, SimulationResult& result) {
  for (const auto& [stream, busy] : usage.busy) {
    result.stream_busy_seconds[stream] = busy.seconds();
  }
  result.exposed_communication_seconds = usage.exposed_communication.seconds();
  result.straggler_wait_seconds = usage.straggler_wait.seconds();
  if (usage.stage_wait) {
    result.stage_wait_seconds = usage.stage_wait->seconds();
  }
  result.computing_seconds = usage.computing.seconds();
}

void add_path(const ResultInputs& inputs,
              const CriticalPath& path,
              const Usage& usage,
              SimulationResult& result) {
  for (const auto& [kind, time] : path.by_kind(*inputs.program, *inputs.trace)) {
    result.critical_path_seconds[kind] = time.seconds();
  }
  const auto parts = path_parts(*inputs.program, *inputs.trace, inputs.cluster, path);
  if (parts.empty()) {
    result.bound_by = "nothing: no task takes time";
    return;
  }
  const Time iteration = inputs.trace->end;
  const Bottleneck bottleneck = find_bottleneck(parts, usage, iteration);
  result.bottleneck = bottleneck.name;
  result.bottleneck_share = ratio(bottleneck.time, iteration);
  result.bottleneck_path_share = ratio(bottleneck.path_time, iteration);
  result.bound_by = bottleneck.sentence;
}

// Of a Program without a scenario, its jitter's.
uint64_t seed_of(const ResultInputs& inputs) {
  if (inputs.scenario != nullptr) {
    return inputs.scenario->seed;
  }
  return inputs.program->jitter ? inputs.program->jitter->seed : 0;
}

}  // namespace

SimulationResult make_summary(const ResultInputs& inputs) {
  CHECK(inputs.program != nullptr && inputs.trace != nullptr);
  const Trace& trace = *inputs.trace;
  SimulationResult result;
  result.version = version();
  result.inputs_hash = inputs.inputs_hash;
  result.scenario = inputs.scenario == nullptr ? inputs.program->name : inputs.scenario->name;
  result.schedule = inputs.schedule;
  result.resolution = trace.resolution;
  result.num_classes = static_cast<int>(trace.classes.size());
  result.num_ranks = inputs.program->num_ranks;
  result.seed = seed_of(inputs);
  result.dropped_share = dropped_share(*inputs.program);
  result.iteration_seconds = trace.end.seconds();
  result.sharing = trace.sharing;
  result.assumptions = trace.assumptions;
  add_variation(*inputs.program, result);
  if (inputs.plan != nullptr) {
    add_plan(*inputs.plan, trace.end, result);
    if (inputs.scenario != nullptr) {
      add_limit(*inputs.plan, inputs.scenario->degrees, result);
      add_finalists(inputs, result);
    }
  }
  add_routing_assumption(inputs, result);
  add_rates(inputs, result);
  add_memory(inputs, result);
  return result;
}

SimulationResult make_result(const ResultInputs& inputs, const LowerBounds& bounds) {
  SimulationResult result = make_summary(inputs);
  const Usage used = usage(*inputs.program, *inputs.trace);
  add_usage(used, result);
  const CriticalPath path =
      critical_path(*inputs.program, *inputs.trace, hardware_queues(inputs.profile));
  add_path(inputs, path, used, result);
  result.busiest_seconds = bounds.busiest.seconds();
  result.busiest = bounds.busiest_name;
  result.dependency_chain_seconds = bounds.dependency_chain.seconds();
  return result;
}

SimulationResult make_result(const ResultInputs& inputs) {
  return make_result(inputs, uncontended_bounds(inputs));
}

}  // namespace moesim
