#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/io/program.h"

namespace moesim {

// One region of a task under the name that its kind gives it.
struct Operand {
  const char* name = "";
  const Region* region = nullptr;
  const Tensor* tensor = nullptr;

  int columns() const { return tensor->columns; }
  int64_t list_rows() const { return region->num_list_rows(); }
  int64_t elements() const { return list_rows() * tensor->columns; }
  int end_row() const { return region->first_row + region->num_rows; }
};

// Takes a task's regions as the operands of its kind (sim/io/program.h: Descriptor) and notes the
// first rule that they break. Once one is broken, `ok()` is false and nothing more is checked.
class Operands {
 public:
  Operands(const Program& program, const Task& task) : program_(&program), task_(&task) {}

  bool ok() const { return fault_.empty(); }
  std::optional<std::string> fault() const {
    return ok() ? std::nullopt : std::optional<std::string>(fault_);
  }

  // The task reads and writes at least so many regions; those that it reads besides are among the
  // ones it writes (it accumulates).
  bool take(int num_reads, int num_writes);
  Operand read(int index, const char* name) const;
  Operand write(int index, const char* name) const;

  // The same blocks and rows; in tensors of equal length also the same place.
  void same_chunk(const Operand& left, const Operand& right);
  // As many rows in all.
  void same_rows(const Operand& left, const Operand& right);
  void same_columns(const Operand& left, const Operand& right);
  void columns(const Operand& operand, int expected);
  void elements(const Operand& operand, int64_t expected);
  // An index (blocks, rows, 1) of INT32.
  void is_index(const Operand& operand);
  // All regions but those hold values: no INT32.
  void others_are_values();
  // `experts` names one expert per block.
  void experts(const std::vector<int>& experts, const Operand& blocks);
  void fail(std::string fault);

 private:
  const Program* program_;
  const Task* task_;
  std::string fault_;
  std::vector<const Region*> indices_;
};

// "(2, [0, 4), 16)": blocks, rows and columns of an operand.
std::string shape_text(const Operand& operand);

// What is wrong with the shapes of a task's regions, if they do not fit its kind. A task without
// regions is right.
std::optional<std::string> operand_fault(const Program& program, const Task& task);

// The same for collectives, among them the given bytes (collective_operands.cpp).
std::optional<std::string> collective_fault(const Program& program, const Task& task);

// The same for slice, replicate, local_sum, elementwise and optimizer (simple_operands.cpp).
void check_slice(const Program& program, const Slice& slice, const Task& task, Operands& operands);
void check_replicate(const Program& program,
                     const Replicate& replicate,
                     const Task& task,
                     Operands& operands);
void check_local_sum(const Program& program,
                     const LocalSum& sum,
                     const Task& task,
                     Operands& operands);
void check_elementwise(const Elementwise& elementwise, const Task& task, Operands& operands);
void check_optimizer(const Task& task, Operands& operands);

// Throws Error where the task has fewer regions: only a Program that was not verified can.
void need_regions(const Task& task, std::size_t num_reads, std::size_t num_writes);

// The sizes that the group's instances have, each once.
std::vector<int> instance_sizes(const Group& group);

}  // namespace moesim
