#include "sim/cli/algorithm_estimate.h"

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
  const double seconds = trace.end.seconds();
  return {.seconds = seconds,
          .low = seconds,
          .high = seconds,
          .extrapolated = true,
          .basis = fmt::format("{}", fmt::join(trace.assumptions, "; "))};
}

}  // namespace moesim
