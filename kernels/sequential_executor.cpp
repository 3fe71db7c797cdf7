#include "kernels/sequential_executor.h"

#include <algorithm>

#include <fmt/format.h>

#include "kernels/apply_moves.h"
#include "kernels/operation.h"
#include "sim/base/error.h"

namespace moesim {
namespace {

std::vector<bool> ranks_running(const Program& program, const Task& task) {
  std::vector<bool> runs(static_cast<size_t>(program.num_ranks), task.roles.empty());
  for (const int role : task.roles) {
    for (const int rank : program.roles[static_cast<size_t>(role)].ranks) {
      runs[static_cast<size_t>(rank)] = true;
    }
  }
  return runs;
}

void run_collective(const RowMap& map,
                    const Task& task,
                    const std::vector<bool>& runs,
                    TensorStore& tensors) {
  const int group = std::get<Collective>(task.descriptor).group;
  for (const std::vector<int>& members : map.program().groups[static_cast<size_t>(group)].members) {
    const auto present = std::count_if(
        members.begin(), members.end(), [&](int rank) { return runs[static_cast<size_t>(rank)]; });
    if (present == 0) {
      continue;
    }
    if (present != static_cast<std::ptrdiff_t>(members.size())) {
      throw Error(
          fmt::format("collective '{}' runs on some members of its group only; ranks in "
                      "launch order need it to be one task of all",
                      task.name));
    }
    const MovePlan plan = plan_collective(map, task, members);
    MoveRunner(plan, members, tensors).run();
  }
}

}  // namespace

void run_in_launch_order(const RowMap& map, Rounding rounding, TensorStore& tensors) {
  const Program& program = map.program();
  for (const Task& task : program.tasks) {
    const std::vector<bool> runs = ranks_running(program, task);
    if (std::holds_alternative<Collective>(task.descriptor)) {
      if (!task.reads.empty() || !task.writes.empty()) {
        run_collective(map, task, runs, tensors);
      }
      continue;
    }
    for (const int rank : tensors.ranks()) {
      if (runs[static_cast<size_t>(rank)]) {
        if (const auto operation = make_operation(map, task, rank, rounding)) {
          operation->run(tensors);
        }
      }
    }
  }
}

}  // namespace moesim
