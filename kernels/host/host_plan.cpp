#include "kernels/host/host_plan.h"

#include <algorithm>
#include <utility>

#include "kernels/host/fabric.h"
#include "sim/base/check.h"

namespace moesim {
namespace {

std::vector<std::unique_ptr<Operation>> make_operations(const RowMap& map,
                                                        const RankScript& script,
                                                        int rank,
                                                        const HostOptions& options) {
  std::vector<std::unique_ptr<Operation>> operations;
  for (const ScriptTask& entry : script.tasks) {
    const Task& task = map.program().tasks[entry.task];
    if (!computes(task.descriptor)) {
      operations.push_back(nullptr);
    } else if (options.make_operation) {
      operations.push_back(options.make_operation(map, task, rank));
    } else {
      operations.push_back(make_operation(map, task, rank, options.rounding));
    }
  }
  return operations;
}

std::vector<Time> times_of(const Program& program,
                           const RankScript& script,
                           int rank,
                           const OperationTime& operation_time) {
  std::vector<Time> times;
  for (const ScriptTask& entry : script.tasks) {
    const Task& task = program.tasks[entry.task];
    times.push_back(computes(task.descriptor) ? operation_time(task, rank) : Time::zero());
  }
  return times;
}

// Bytes of a row of the tensor that a collective moves.
int64_t row_bytes(const Program& program, const Task& task) {
  const std::vector<Region>& regions = task.reads.empty() ? task.writes : task.reads;
  return program.tensors[regions.front().tensor].row_bytes();
}

class MeetingPlanner {
 public:
  MeetingPlanner(const RowMap& map, const Fabric* fabric) : map_(map), fabric_(fabric) {}

  MeetingPlan plan(const Meeting& meeting, const std::vector<int>& members) const {
    MeetingPlan plan;
    std::vector<const Task*> tasks;
    for (const int task : meeting.tasks) {
      if (task == kNone) {
        return plan;  // it never comes about
      }
      tasks.push_back(&map_.program().tasks[task]);
    }
    const Task& first = *tasks.front();
    const bool has_regions = std::all_of(tasks.begin(), tasks.end(), [](const Task* task) {
      return !task->reads.empty() || !task->writes.empty();
    });
    if (has_regions) {
      plan.moves = plan_collective(map_, tasks, members);
    }
    if (fabric_ != nullptr && members.size() > 1) {
      plan.flows = fabric_->flows(
          has_regions
              ? traffic_of(
                    plan.moves, row_bytes(map_.program(), first), static_cast<int>(members.size()))
              : traffic_of(map_.program(), std::get<Collective>(first.descriptor), members),
          members);
      plan.latency = fabric_->latency(members);
    }
    return plan;
  }

 private:
  const RowMap& map_;
  const Fabric* fabric_;
};

}  // namespace

HostPlan make_host_plan(const Program& program,
                        const HostOptions& options,
                        std::vector<int> ranks) {
  HostPlan plan;
  plan.program = &program;
  plan.ranks = std::move(ranks);
  plan.map = std::make_unique<RowMap>(program);
  const RowMap& map = *plan.map;
  plan.script = make_host_script(program, map.groups(), options.hardware_queues);
  plan.operations.resize(program.num_ranks);
  for (const int rank : plan.ranks) {
    plan.operations[rank] = make_operations(map, plan.script.ranks[rank], rank, options);
  }
  if (options.operation_time) {
    plan.operation_times.resize(program.num_ranks);
    for (const int rank : plan.ranks) {
      plan.operation_times[rank] =
          times_of(program, plan.script.ranks[rank], rank, options.operation_time);
    }
  }
  std::optional<Fabric> fabric;
  if (options.cluster && options.clock != HostClock::kRaw) {
    fabric.emplace(*options.cluster, program);
    plan.link_rates = fabric->rates();
  }
  const MeetingPlanner planner(map, fabric ? &*fabric : nullptr);
  for (size_t i = 0; i < plan.script.meetings.size(); ++i) {
    const std::vector<int>& members = plan.script.members(program, static_cast<int>(i));
    const bool is_here =
        std::find_first_of(members.begin(), members.end(), plan.ranks.begin(), plan.ranks.end()) !=
        members.end();
    plan.meetings.push_back(is_here ? planner.plan(plan.script.meetings[i], members)
                                    : MeetingPlan{});
  }
  return plan;
}

}  // namespace moesim
