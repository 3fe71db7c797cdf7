#include "sim/engine/simulate.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "sim/base/error.h"
#include "sim/engine/classes.h"
#include "sim/engine/flow_transfers.h"
#include "sim/engine/machine.h"
#include "sim/engine/queued_transfers.h"
#include "sim/engine/script.h"
#include "sim/engine/sharing_watch.h"
#include "sim/engine/simgrid_clock.h"
#include "sim/engine/slow_links.h"
#include "sim/engine/stall.h"
#include "sim/engine/task_cost.h"
#include "sim/engine/uncontended_work.h"
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

// A collective that nobody slows takes as long in flows as in queues
// (docs/decisions/0017-flows.md).
std::unique_ptr<Transfers> make_transfers(const Workload& workload,
                                          TaskCosts& costs,
                                          const SimulationOptions& options) {
  const Sharing sharing = options.effects.port_sharing ? Sharing::kByWeight : Sharing::kAlone;
  if (options.resolution == Resolution::kFlows && sharing == Sharing::kByWeight) {
    return std::make_unique<FlowTransfers>(workload, costs);
  }
  return std::make_unique<QueuedTransfers>(workload, sharing);
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

// The latest that the iteration ends when every collective has what it is sure of at every moment,
// and no more (docs/decisions/0017-flows.md). None where that takes longer than a machine can tell.
std::optional<Time> latest_end(const Workload& workload, Time launch_overhead) {
  QueuedTransfers transfers(workload, Sharing::kLeast);
  try {
    Machine machine(workload, launch_overhead, transfers);
    run_on_simgrid(machine);
    return machine.now();
  } catch (const Error&) {
    return std::nullopt;
  }
}

void add_standing(bool is_exact, std::optional<Time> latest, Trace& trace) {
  if (is_exact) {
    trace.sharing = SharingStanding{true, trace.end};
    trace.assumptions.emplace_back(
        "shared ports and links: exact; collectives that meet load them alike, so that resolution "
        "flows gives the same times");
  } else if (latest) {
    trace.sharing = SharingStanding{false, std::max(*latest, trace.end)};
    trace.assumptions.emplace_back(
        "shared ports and links: bounded; collectives that load them differently meet, and each "
        "port and link drains by itself: resolution flows may end earlier or later, up to what is "
        "stated as shared links (sharing.at_most_seconds)");
  }
}

Resolution choose(Resolution asked, const Program& program) {
  const bool is_unlike = are_all_unlike(program);
  if (asked == Resolution::kFold && is_unlike) {
    throw Error(
        "jitter gives each rank times of its own: none stands for others, and nothing folds; leave "
        "out --resolution fold, or the jitter");
  }
  if (asked == Resolution::kAuto) {
    return is_unlike ? Resolution::kPorts : Resolution::kFold;
  }
  return asked;
}

// A Workload's machine and all that it needs are gone when its trace is there: millions of slots.
Trace run(const Workload& workload,
          TaskCosts& costs,
          Time launch_overhead,
          const SimulationOptions& options) {
  const std::unique_ptr<Transfers> transfers = make_transfers(workload, costs, options);
  SharingWatch watch(workload, *transfers);
  const bool shares =
      options.keep_spans && options.effects.port_sharing && !workload.participants.empty();
  const bool watched = shares && options.resolution != Resolution::kFlows;
  Machine machine(workload, launch_overhead, watched ? static_cast<Transfers&>(watch) : *transfers);
  run_on_simgrid(machine);
  if (!machine.finished()) {
    throw Error(describe_stall(costs.program(), workload, machine));
  }

  Trace trace;
  trace.executor = "simulator";
  trace.classes = workload.classes.ranks;
  if (options.keep_spans) {
    trace.spans = machine.spans();
  }
  trace.end = machine.now();
  trace.pass_end = machine.pass_end();
  trace.assumptions = costs.assumptions();
  if (options.keep_spans) {
    std::ranges::move(slow_links(workload, costs), std::back_inserter(trace.assumptions));
  }
  if (watched) {
    const bool is_exact = watch.is_exact();
    add_standing(is_exact, is_exact ? std::nullopt : latest_end(workload, launch_overhead), trace);
  } else if (shares) {
    trace.sharing = SharingStanding{true, trace.end};
  }
  return trace;
}

}  // namespace

const char* name(Resolution resolution) {
  switch (resolution) {
    case Resolution::kAuto:
      return "auto";
    case Resolution::kFold:
      return "fold";
    case Resolution::kPorts:
      return "ports";
    case Resolution::kFlows:
      return "flows";
  }
  return "";
}

Trace simulate(const Program& program,
               const Cluster* cluster,
               const Profile* profile,
               const SimulationOptions& options) {
  const Resolution resolution = choose(options.resolution, program);
  const bool fold = resolution == Resolution::kFold;
  TaskCosts costs(program, cluster, profile);
  if (resolution == Resolution::kFlows) {
    check_num_messages(costs);
  }
  Scripts scripts = make_scripts(program, num_queues(program, profile, options.effects));
  const LinkPatterns links = make_link_patterns(costs);
  Classes classes =
      fold ? fold_classes(scripts, links, costs) : separate_classes(scripts, links, costs);
  const Workload workload = make_workload(std::move(scripts), std::move(classes), links, costs);
  Trace trace = run(workload, costs, launch_overhead(profile, options.effects), options);
  trace.resolution = name(resolution);
  if (options.work != nullptr) {
    *options.work = uncontended_work(workload, program.tasks.size());
  }
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
