#include "sim/program/operands.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/base/error.h"

namespace moesim {
void need_regions(const Task& task, std::size_t num_reads, std::size_t num_writes) {
  if (task.reads.size() < num_reads || task.writes.size() < num_writes) {
    throw Error(
        fmt::format("task '{}' reads {} and writes {} regions, too few for its kind; see "
                    "what verify says of it",
                    task.name,
                    task.reads.size(),
                    task.writes.size()));
  }
}

std::vector<int> instance_sizes(const Group& group) {
  std::vector<int> sizes;
  for (const std::vector<int>& members : group.members) {
    const auto size = static_cast<int>(members.size());
    if (std::find(sizes.begin(), sizes.end(), size) == sizes.end()) {
      sizes.push_back(size);
    }
  }
  return sizes;
}

std::string shape_text(const Operand& operand) {
  return fmt::format("{} ({}, [{}, {}), {})",
                     operand.name,
                     operand.region->num_blocks,
                     operand.region->first_row,
                     operand.end_row(),
                     operand.columns());
}

bool Operands::take(int num_reads, int num_writes) {
  const auto reads = static_cast<int>(task_->reads.size());
  const auto writes = static_cast<int>(task_->writes.size());
  if (reads < num_reads || writes < num_writes) {
    fail(fmt::format("it reads {} and writes {} regions; its kind needs {} and {}",
                     reads,
                     writes,
                     num_reads,
                     num_writes));
  }
  for (int i = num_reads; ok() && i < reads; ++i) {
    const bool accumulates =
        std::any_of(task_->writes.begin(), task_->writes.end(), [&](const Region& write) {
          return write == task_->reads[i];
        });
    if (!accumulates) {
      fail(
          fmt::format("it reads tensor '{}' beyond the operands of its kind and adds nothing to it",
                      program_->tensors[task_->reads[i].tensor].name));
    }
  }
  return ok();
}

Operand Operands::read(int index, const char* name) const {
  const Region& region = task_->reads[index];
  return {name, &region, &program_->tensors[region.tensor]};
}

Operand Operands::write(int index, const char* name) const {
  const Region& region = task_->writes[index];
  return {name, &region, &program_->tensors[region.tensor]};
}

void Operands::fail(std::string fault) {
  if (ok()) {
    fault_ = std::move(fault);
  }
}

void Operands::same_chunk(const Operand& left, const Operand& right) {
  const bool same_length = left.tensor->rows == right.tensor->rows;
  const bool same = left.region->num_blocks == right.region->num_blocks &&
                    left.region->num_rows == right.region->num_rows &&
                    (!same_length || left.region->first_row == right.region->first_row);
  if (!same) {
    fail(fmt::format(
        "{} and {} must be the same blocks and rows", shape_text(left), shape_text(right)));
  }
}

void Operands::same_rows(const Operand& left, const Operand& right) {
  if (left.list_rows() != right.list_rows()) {
    fail(fmt::format("{} and {} must have as many rows", shape_text(left), shape_text(right)));
  }
}

void Operands::same_columns(const Operand& left, const Operand& right) {
  if (left.columns() != right.columns()) {
    fail(fmt::format("{} and {} must have as many columns", shape_text(left), shape_text(right)));
  }
}

void Operands::columns(const Operand& operand, int expected) {
  if (operand.columns() != expected) {
    fail(fmt::format("{} must have {} columns", shape_text(operand), expected));
  }
}

void Operands::elements(const Operand& operand, int64_t expected) {
  if (operand.elements() != expected) {
    fail(fmt::format("{} must have {} elements", shape_text(operand), expected));
  }
}

void Operands::others_are_values() {
  for (const auto* regions : {&task_->reads, &task_->writes}) {
    for (const Region& region : *regions) {
      const bool is_known = std::find(indices_.begin(), indices_.end(), &region) != indices_.end();
      const Tensor& tensor = program_->tensors[region.tensor];
      if (!is_known && tensor.dtype == DataType::kInt32) {
        fail(fmt::format("tensor '{}' is INT32 where values are needed", tensor.name));
      }
    }
  }
}

void Operands::is_index(const Operand& operand) {
  indices_.push_back(operand.region);
  columns(operand, 1);
  if (operand.tensor->dtype != DataType::kInt32) {
    fail(fmt::format("{} must be INT32", shape_text(operand)));
  }
}

void Operands::experts(const std::vector<int>& experts, const Operand& blocks) {
  if (static_cast<int>(experts.size()) != blocks.region->num_blocks) {
    fail(fmt::format("{} experts are named for the blocks of {}; name one for each block",
                     experts.size(),
                     shape_text(blocks)));
  }
}

}  // namespace moesim
