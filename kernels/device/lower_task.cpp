#include "kernels/device/lower_task.h"

#include <utility>
#include <variant>

#include "kernels/device/lower_kinds.h"
#include "kernels/device/lower_moves.h"
#include "kernels/operation.h"

namespace moesim {
namespace {

struct Lowering {
  TaskLowering& task;

  void choose(void (*forward)(TaskLowering&), void (*backward)(TaskLowering&)) const {
    (task.site().task->pass == Pass::kBackward ? backward : forward)(task);
  }

  void operator()(const Gate&) const { choose(lower_gate_forward, lower_gate_backward); }
  void operator()(const Order&) const { lower_order(task); }
  void operator()(const Unorder&) const { lower_unorder(task); }
  void operator()(const Expert&) const { choose(lower_expert_forward, lower_expert_backward); }
  void operator()(const Attention&) const {
    choose(lower_attention_forward, lower_attention_backward);
  }
  void operator()(const Elementwise&) const { lower_elementwise(task); }
  void operator()(const Optimizer&) const { lower_optimizer(task); }
  template <typename Other>
  void operator()(const Other&) const {}  // does not compute, or moves rows
};

bool moves_rows(const Descriptor& descriptor) {
  return std::holds_alternative<Slice>(descriptor) ||
         std::holds_alternative<Replicate>(descriptor) ||
         std::holds_alternative<LocalSum>(descriptor);
}

std::vector<DeviceStep> lower_local_moves(const TaskSite& site, LoweringSpace& space) {
  const MovePlan plan = plan_local(*site.map, *site.task, site.rank);
  const MoveSite moves{&plan, {site.rank}, site.task->stream};
  std::vector<DeviceStep> steps = lower_clears(moves, 0, space);
  for (int step = 0; step < static_cast<int>(plan.steps.size()); ++step) {
    for (DeviceStep& one : lower_moves(moves, step, 0, space)) {
      steps.push_back(std::move(one));
    }
  }
  return steps;
}

}  // namespace

std::vector<DeviceStep> lower_task(const TaskSite& site, LoweringSpace& space) {
  // The host's operation checks its operands when it is made.
  if (make_operation(*site.map, *site.task, site.rank, site.rounding) == nullptr) {
    return {};
  }
  if (moves_rows(site.task->descriptor)) {
    return lower_local_moves(site, space);
  }
  TaskLowering task(site, space);
  std::visit(Lowering{task}, site.task->descriptor);
  return std::move(task).steps();
}

}  // namespace moesim
