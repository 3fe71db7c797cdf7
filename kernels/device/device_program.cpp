#include "kernels/device/device_program.h"

#include <algorithm>
#include <utility>

#include "kernels/device/byte_exchange.h"
#include "kernels/device/exchange_plan.h"
#include "kernels/device/lower_moves.h"
#include "kernels/device/lower_task.h"
#include "kernels/moves.h"
#include "sim/base/check.h"

namespace moesim {
namespace {

// Hardware queues are the device's: CUDA maps its streams to them.
HostScript script_of(const RowMap& map) {
  constexpr int kAnyQueues = 1;
  return make_host_script(map.program(), map.groups(), kAnyQueues);
}

bool has_regions(const std::vector<const Task*>& tasks) {
  return std::all_of(tasks.begin(), tasks.end(), [](const Task* task) {
    return !task->reads.empty() || !task->writes.empty();
  });
}

CollectiveSteps lower_collective(const DeviceScript& script, int index, LoweringSpace& space) {
  CollectiveSteps collective;
  const Program& program = *script.program;
  std::vector<const Task*> tasks;
  for (const int task : script.script.meetings[index].tasks) {
    tasks.push_back(&program.tasks[task]);
  }
  if (!has_regions(tasks)) {
    return collective;
  }
  const std::vector<int>& ranks = script.script.members(program, index);
  const MovePlan plan = plan_collective(script.map, tasks, ranks);
  const MoveSite site{&plan, ranks, tasks.front()->stream};
  const auto num_members = static_cast<int>(ranks.size());
  CHECK(plan.clears.empty(), "collective '{}' clears rows", tasks.front()->name);
  for (int step = 0; step < static_cast<int>(plan.steps.size()); ++step) {
    std::vector<std::vector<DeviceStep>>& phase = collective.phases.emplace_back();
    for (int member = 0; member < num_members; ++member) {
      phase.push_back(lower_moves(site, step, member, space));
    }
  }
  return collective;
}

// Of what a collective moves.
ElementType moved_type(const Program& program, const Task& task, Storage storage) {
  const std::vector<Region>& regions = task.reads.empty() ? task.writes : task.reads;
  return element_type(program.tensors[regions.front().tensor], storage);
}

DeviceExchange lower_exchange(const DeviceScript& script, int index, LoweringSpace& space) {
  const Program& program = *script.program;
  const Meeting& meeting = script.script.meetings[index];
  const std::vector<int>& ranks = script.script.members(program, index);
  const auto own = std::find(ranks.begin(), ranks.end(), script.ranks.front());
  if (own == ranks.end()) {
    return {};
  }
  std::vector<const Task*> tasks;
  for (const int task : meeting.tasks) {
    tasks.push_back(&program.tasks[task]);
  }
  const auto member = static_cast<int>(own - ranks.begin());
  const Task& task = *tasks[member];
  const auto& collective = std::get<Collective>(task.descriptor);
  const ExchangeRequest request{
      collective.operation, static_cast<int>(ranks.size()), member, script.native_all_to_all};
  if (has_regions(tasks)) {
    const ExchangePlan plan = plan_exchange(plan_collective(script.map, tasks, ranks), request);
    const ElementType type = moved_type(program, task, space.storage());
    return lower_exchange({&plan, ranks, member, task.stream, type}, space);
  }
  const ExchangePlan plan =
      plan_byte_exchange(collective, traffic_of(program, collective, ranks), request);
  return lower_exchange({&plan, ranks, member, task.stream, ElementType::kFloat32}, space);
}

// Of the ranks that are not here nothing is left.
HostScript of_rank(HostScript script, int rank) {
  for (int other = 0; other < static_cast<int>(script.ranks.size()); ++other) {
    if (other != rank) {
      script.ranks[other] = {};
    }
  }
  return script;
}

}  // namespace

DeviceScript::DeviceScript(const Program& of)
    : program(&of),
      map(of),
      script(script_of(map)),
      ranks(all_ranks(of)),
      order(issue_order(of, script)) {}

DeviceScript::DeviceScript(const Program& of, int rank, bool has_native_all_to_all)
    : program(&of),
      map(of),
      script(of_rank(script_of(map), rank)),
      ranks({rank}),
      calls_nccl(true),
      native_all_to_all(has_native_all_to_all),
      order(issue_order(of, script)) {}

DeviceProgram lower_program(const DeviceScript& script, Rounding rounding, LoweringSpace& space) {
  DeviceProgram lowered;
  const Program& program = *script.program;
  for (int rank = 0; rank < program.num_ranks; ++rank) {
    std::vector<std::vector<DeviceStep>>& tasks = lowered.tasks.emplace_back();
    for (const ScriptTask& entry : script.script.ranks[rank].tasks) {
      const Task& task = program.tasks[entry.task];
      tasks.push_back(computes(task.descriptor)
                          ? lower_task({&script.map, &task, rank, rounding}, space)
                          : std::vector<DeviceStep>{});
    }
  }
  for (size_t meeting = 0; meeting < script.script.meetings.size(); ++meeting) {
    const auto index = static_cast<int>(meeting);
    if (script.calls_nccl) {
      lowered.exchanges.push_back(lower_exchange(script, index, space));
    } else {
      lowered.meetings.push_back(lower_collective(script, index, space));
    }
  }
  return lowered;
}

}  // namespace moesim
