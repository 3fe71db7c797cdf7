// Shapes of slice, replicate, local_sum, elementwise and optimizer.
#include <fmt/format.h>

#include "sim/program/operands.h"

namespace moesim {
namespace {

// The i-th region read becomes the i-th written; `larger` has `factor` times the rows of `smaller`.
void check_pair(const Operand& larger, const Operand& smaller, int64_t factor, Operands& operands) {
  operands.same_columns(larger, smaller);
  if (larger.list_rows() != factor * smaller.list_rows()) {
    operands.fail(fmt::format(
        "{} must have {} times the rows of {}", shape_text(larger), factor, shape_text(smaller)));
  }
  const bool same_rows = larger.tensor->rows == smaller.tensor->rows &&
                         larger.region->num_rows == smaller.region->num_rows;
  if (same_rows && larger.region->first_row != smaller.region->first_row) {
    operands.fail(fmt::format("{} and {} must be the same rows of their blocks",
                              shape_text(larger),
                              shape_text(smaller)));
  }
}

bool take_pairs(const Task& task, Operands& operands) {
  if (task.reads.size() != task.writes.size()) {
    operands.fail(fmt::format("it reads {} and writes {} regions; they come in pairs",
                              task.reads.size(),
                              task.writes.size()));
  }
  return operands.ok();
}

// Every member's run of blocks is a whole number of blocks.
void check_runs(const Group& group, const Operand& blocks, Operands& operands) {
  for (const int size : instance_sizes(group)) {
    if (blocks.region->num_blocks % size != 0) {
      operands.fail(fmt::format("{} does not hold equal runs of blocks for {} members of '{}'",
                                shape_text(blocks),
                                size,
                                group.name));
    }
  }
}

}  // namespace

void check_slice(const Program& program, const Slice& slice, const Task& task, Operands& operands) {
  for (int i = 0; take_pairs(task, operands) && i < static_cast<int>(task.reads.size()); ++i) {
    for (const int size : instance_sizes(program.groups[slice.group])) {
      const Operand input = operands.read(i, "input");
      const Operand output = operands.write(i, "output");
      if (input.list_rows() >= output.list_rows()) {
        check_pair(input, output, size, operands);
      } else {  // the reverse: the own run among zeros
        check_pair(output, input, size, operands);
      }
    }
  }
}

void check_replicate(const Program& program,
                     const Replicate& replicate,
                     const Task& task,
                     Operands& operands) {
  for (int i = 0; take_pairs(task, operands) && i < static_cast<int>(task.reads.size()); ++i) {
    const Operand input = operands.read(i, "input");
    check_pair(operands.write(i, "copies"), input, replicate.copies, operands);
    check_runs(program.groups[replicate.group], input, operands);
  }
}

void check_local_sum(const Program& program,
                     const LocalSum& sum,
                     const Task& task,
                     Operands& operands) {
  for (int i = 0; take_pairs(task, operands) && i < static_cast<int>(task.reads.size()); ++i) {
    const Operand output = operands.write(i, "sum");
    check_pair(operands.read(i, "copies"), output, sum.copies, operands);
    check_runs(program.groups[sum.group], output, operands);
  }
}

void check_elementwise(const Elementwise& elementwise, const Task& task, Operands& operands) {
  if (task.reads.empty() || task.writes.size() != 1) {
    return;
  }
  const int64_t size = operands.write(0, "output").elements();
  const bool all = elementwise.operation != ElementwiseOperation::kLoss;
  const int num_checked = all ? static_cast<int>(task.reads.size()) : 1;
  for (int i = 0; i < num_checked; ++i) {
    operands.elements(operands.read(i, "input"), size);
  }
}

// gradients, weights, state -> weights, state: what is written is also read; the rest of what is
// read are gradients, one for each of the weights that are written first.
void check_optimizer(const Task& task, Operands& operands) {
  const int num_gradients =
      static_cast<int>(task.reads.size()) - static_cast<int>(task.writes.size());
  if (num_gradients <= 0 || num_gradients > static_cast<int>(task.writes.size())) {
    operands.fail(
        fmt::format("it reads {} and writes {} regions; it must read gradients, weights "
                    "and state and write weights and state",
                    task.reads.size(),
                    task.writes.size()));
    return;
  }
  if (!operands.take(num_gradients, num_gradients)) {
    return;
  }
  for (int i = 0; i < num_gradients; ++i) {
    operands.elements(operands.read(i, "gradient"), operands.write(i, "weight").elements());
  }
}

}  // namespace moesim
