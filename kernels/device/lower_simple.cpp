// elementwise and optimizer.
#include <algorithm>

#include "kernels/device/lower_kinds.h"
#include "kernels/global_tensor.h"

namespace moesim {
namespace {

Combination combination_of(TaskLowering& task, const Operand& output) {
  switch (std::get<Elementwise>(task.site().task->descriptor).operation) {
    case ElementwiseOperation::kAdd:
      return Combination::kSumFromZero;
    case ElementwiseOperation::kLoss: {  // a partial gradient is held by the first member
      const TaskSite& site = task.site();
      const bool holds =
          place_of(site.program(), site.map->groups(), output.tensor, site.rank).first_partial;
      return holds ? Combination::kLoss : Combination::kZero;
    }
    case ElementwiseOperation::kCopy:
      break;
  }
  return Combination::kSum;
}

// How many of the inputs take part.
size_t num_inputs(Combination combination, size_t available) {
  switch (combination) {
    case Combination::kSumFromZero:
      return available;
    case Combination::kLoss:
      return std::min<size_t>(available, 2);
    case Combination::kSum:
      return 1;
    case Combination::kZero:
      break;
  }
  return 0;
}

}  // namespace

void lower_elementwise(TaskLowering& task) {
  const TaskSite& site = task.site();
  const Operand output = write_operand(site, 0, "output");
  const Combination combination = combination_of(task, output);
  std::vector<std::vector<ElementRun>> inputs;
  for (size_t i = 0; i < num_inputs(combination, site.task->reads.size()); ++i) {
    inputs.push_back(task.runs(read_operand(site, i, "input")));
  }
  PieceList pieces;
  pieces.add(task.runs(output), inputs);
  task.combine(
      pieces, combination, combination == Combination::kLoss ? task.rounding() : Rounding::kOff);
}

void lower_optimizer(TaskLowering& task) {
  const TaskSite& site = task.site();
  const bool is_adam =
      std::get<Optimizer>(site.task->descriptor).algorithm == OptimizerAlgorithm::kAdam;
  const int num_moments = is_adam ? 2 : 0;
  const size_t num_writes = site.task->writes.size();
  const size_t num_weights = site.task->reads.size() - num_writes;
  for (size_t i = 0; i < num_weights; ++i) {
    const Operand weights = write_operand(site, i, "weights");
    OptimizerStep step{.is_adam = is_adam,
                       .weights = task.rows(weights),
                       .gradients = task.rows(read_operand(site, i, "gradients")),
                       .state = {}};
    if (num_weights + i < num_writes) {
      step.state = task.rows(write_operand(site, num_weights + i, "state"));
      step.keeps_copy = step.state.columns / weights.columns == num_moments + 1;
    }
    task.kernel(step, weights.num_rows());
  }
}

}  // namespace moesim
