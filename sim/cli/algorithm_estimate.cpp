#include "sim/cli/algorithm_estimate.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/error.h"
#include "sim/base/message.h"
#include "sim/engine/simulate.h"

namespace moesim {
namespace {

Program one_collective(const AlgorithmQuestion& question,
                       const Cluster& cluster,
                       std::int64_t bytes) {
  Program program;
  program.name = "predict-collective";
  program.num_ranks = cluster.num_gpus();
  program.streams = {"communication"};
  Group group{.name = "ranks", .members = {{}}};
  for (int node = 0; node < question.layout.nodes; ++node) {
    for (int gpu = 0; gpu < question.layout.gpus_per_node; ++gpu) {
      group.members[0].push_back(node * cluster.gpus_per_node + gpu);
    }
  }
  program.groups = {group};
  Task& task = program.tasks.emplace_back();
  task.name = to_string(question.operation);
  task.stream = 0;
  const bool is_shift = question.operation == CollectiveOperation::kShift;
  task.descriptor = Collective{.operation = question.operation,
                               .group = 0,
                               .bytes = bytes,
                               .distance = is_shift ? 1 : 0,
                               .wrap = is_shift};
  return program;
}

// What the profile says of the algorithm on the layout: of the default one also by the laws of
// layouts, of others only where they were measured there.
std::optional<LayoutEstimate> told_by_profile(const AlgorithmQuestion& question,
                                              const Profile& profile,
                                              std::int64_t bytes) {
  if (question.algorithm == Algorithm::kFastest) {
    return std::nullopt;
  }
  const LayoutModel model(profile, question.operation, question.algorithm);
  const bool is_default = resolved(question.operation, question.algorithm) ==
                          resolved(question.operation, Algorithm::kDefault);
  const bool is_measured = std::ranges::any_of(
      model.measured(),
      [&](const MeasuredLayout& measured) { return measured.layout == question.layout; });
  return is_default || is_measured ? model.find(question.layout, static_cast<double>(bytes))
                                   : std::nullopt;
}

}  // namespace

LayoutEstimate estimate_by_algorithm(const AlgorithmQuestion& question,
                                     const Cluster& cluster,
                                     const Profile& profile,
                                     std::int64_t bytes) {
  if (question.layout.nodes > cluster.num_nodes ||
      question.layout.gpus_per_node > cluster.gpus_per_node) {
    throw Error(fmt::format("cluster '{}' has {}; ask for no more than that",
                            visible_in_line(cluster.name),
                            to_string(Layout{cluster.num_nodes, cluster.gpus_per_node})));
  }
  Profile chosen = profile;
  chosen.launch_overhead_seconds = 0;  // as logs have it: what was measured holds it already
  chosen.algorithms = {
      {.operation = question.operation, .span = {}, .algorithm = question.algorithm}};
  const Trace trace = simulate(one_collective(question, cluster, bytes), &cluster, &chosen);
  LayoutEstimate estimate{.seconds = trace.end.seconds(),
                          .has_interval = false,
                          .extrapolated = true,
                          .basis = fmt::format("{}", fmt::join(trace.assumptions, "; "))};
  if (const auto told = told_by_profile(question, profile, bytes)) {
    estimate.has_interval = true;
    estimate.low = estimate.seconds * told->low / told->seconds;
    estimate.high = estimate.seconds * told->high / told->seconds;
  }
  return estimate;
}

}  // namespace moesim
