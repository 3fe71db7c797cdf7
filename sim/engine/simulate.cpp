#include "sim/engine/simulate.h"

#include <algorithm>
#include <utility>

#include "sim/base/error.h"
#include "sim/engine/classes.h"
#include "sim/engine/machine.h"
#include "sim/engine/script.h"
#include "sim/engine/simgrid_clock.h"
#include "sim/engine/stall.h"
#include "sim/engine/task_cost.h"
#include "sim/engine/workload.h"

namespace moesim {
namespace {

// As many as there are streams where the limit is turned off: each has its own.
int num_queues(const Program& program, const Profile* profile, const Ablation& effects) {
  const int a_queue_per_stream = std::max(1, static_cast<int>(program.streams.size()));
  return effects.hardware_queues ? hardware_queues(profile) : a_queue_per_stream;
}

Time launch_overhead(const Profile* profile, const Ablation& effects) {
  return profile != nullptr && effects.launch_overhead
             ? Time::from_seconds(profile->launch_overhead_seconds)
             : Time::zero();
}

// A task's uncontended time on the first rank that has a part in it.
Time duration_on_first_rank(const Task& task, const Scripts& scripts, TaskCosts& costs) {
  const auto* collective = std::get_if<Collective>(&task.descriptor);
  for (int rank = 0; rank < costs.program().num_ranks; ++rank) {
    if (!runs(task, scripts.of_rank[rank])) {
      continue;
    }
    if (collective == nullptr) {
      return costs.mean_duration(task, rank);
    }
    if (costs.groups().instance(collective->group, rank) != kNone) {
      return costs.alone(task, rank);
    }
  }
  return Time::zero();
}

bool folds(const Program& program, Resolution resolution) {
  const bool is_asked_for = resolution == Resolution::kFold;
  if (is_asked_for && are_all_unlike(program)) {
    throw Error(
        "jitter gives each rank times of its own: none stands for others, and nothing folds; leave "
        "out --resolution fold, or the jitter");
  }
  return is_asked_for || (resolution == Resolution::kAuto && !are_all_unlike(program));
}

}  // namespace

Trace simulate(const Program& program,
               const Cluster* cluster,
               const Profile* profile,
               const SimulationOptions& options) {
  const bool fold = folds(program, options.resolution);
  TaskCosts costs(program, cluster, profile);
  Scripts scripts = make_scripts(program, num_queues(program, profile, options.effects));
  const LinkPatterns links = make_link_patterns(costs);
  Classes classes =
      fold ? fold_classes(scripts, links, costs) : separate_classes(scripts, links, costs);
  const Workload workload = make_workload(std::move(scripts), std::move(classes), links, costs);

  Machine machine(workload,
                  {.launch_overhead = launch_overhead(profile, options.effects),
                   .port_sharing = options.effects.port_sharing});
  run_on_simgrid(machine);
  if (!machine.finished()) {
    throw Error(describe_stall(program, workload, machine));
  }

  Trace trace;
  trace.executor = "simulator";
  trace.resolution = fold ? "fold" : "ports";
  trace.classes = workload.classes.ranks;
  if (options.keep_spans) {
    trace.spans = machine.spans();
  }
  trace.end = machine.now();
  trace.pass_end = machine.pass_end();
  trace.assumptions = costs.assumptions();
  return trace;
}

std::vector<Time> task_durations(const Program& program,
                                 const Cluster* cluster,
                                 const Profile* profile) {
  TaskCosts costs(program, cluster, profile);
  const Scripts scripts = make_scripts(program, hardware_queues(profile));
  std::vector<Time> durations;
  durations.reserve(program.tasks.size());
  for (const Task& task : program.tasks) {
    durations.push_back(duration_on_first_rank(task, scripts, costs));
  }
  check_total(durations);
  return durations;
}

}  // namespace moesim
