#include "kernels/device/tensor_lives.h"

#include <algorithm>

namespace moesim {

TensorLives::TensorLives(const Program& program, const RoleTable& roles, int role)
    : uses_(program.tensors.size()) {
  for (int index = 0; index < static_cast<int>(program.tasks.size()); ++index) {
    const Task& task = program.tasks[index];
    const std::vector<int>& running = roles.running(task);
    if (std::find(running.begin(), running.end(), role) == running.end()) {
      continue;
    }
    order_.begin(index, task.stream);
    for (const int wait : task.waits) {
      order_.wait_for(wait);
    }
    order_.finish();
    for (const auto* regions : {&task.reads, &task.writes}) {
      for (const Region& region : *regions) {
        use(region.tensor, task.stream, index);
      }
    }
  }
}

void TensorLives::use(int tensor, int stream, int task) {
  std::vector<Use>& uses = uses_[tensor];
  const auto found =
      std::find_if(uses.begin(), uses.end(), [&](const Use& use) { return use.stream == stream; });
  if (found == uses.end()) {
    uses.push_back({stream, task, task});
  } else {
    found->last_task = task;
  }
}

// A stream's tasks run one behind the other, so that its last access of the one and its first of
// the other stand for all.
bool TensorLives::is_over_before(int earlier, int later) const {
  const std::vector<Use>& last = uses_[earlier];
  const std::vector<Use>& first = uses_[later];
  return std::all_of(last.begin(), last.end(), [&](const Use& before) {
    return std::all_of(first.begin(), first.end(), [&](const Use& after) {
      return order_.is_over_before(before.last_task, after.first_task);
    });
  });
}

}  // namespace moesim
