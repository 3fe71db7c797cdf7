#include "kernels/device/device_program.h"

#include <algorithm>
#include <utility>

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

CollectiveSteps lower_collective(const DeviceScript& script, int index, LoweringSpace& space) {
  CollectiveSteps collective;
  const Program& program = *script.program;
  std::vector<const Task*> tasks;
  for (const int task : script.script.meetings[index].tasks) {
    tasks.push_back(&program.tasks[task]);
  }
  if (std::any_of(tasks.begin(), tasks.end(), [](const Task* task) {
        return task->reads.empty() && task->writes.empty();
      })) {
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

}  // namespace

DeviceScript::DeviceScript(const Program& of)
    : program(&of), map(of), script(script_of(map)), order(issue_order(of, script)) {}

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
    lowered.meetings.push_back(lower_collective(script, static_cast<int>(meeting), space));
  }
  return lowered;
}

}  // namespace moesim
