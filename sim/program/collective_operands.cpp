// Sizes of collectives: what the members read and write together must agree.
#include <algorithm>
#include <numeric>
#include <variant>

#include <fmt/format.h>

#include "sim/io/collective_bytes.h"
#include "sim/program/operands.h"

namespace moesim {
namespace {

int64_t num_rows(const std::vector<Region>& regions) {
  return std::accumulate(
      regions.begin(), regions.end(), int64_t{0}, [](int64_t sum, const Region& region) {
        return sum + region.num_list_rows();
      });
}

// SHIFT and BROADCAST may leave a side to other members; all others have both.
bool may_be_one_sided(CollectiveOperation operation) {
  return operation == CollectiveOperation::kShift || operation == CollectiveOperation::kBroadcast;
}

// What is wrong with the row counts over a group of the size, or nullptr.
const char* rows_rule(CollectiveOperation operation, int64_t read, int64_t written, int64_t size) {
  switch (operation) {
    case CollectiveOperation::kAllGather:
      return written == size * read ? nullptr : "it must write what all members read";
    case CollectiveOperation::kReduceScatter:
      return read == size * written ? nullptr : "each member must write an equal part";
    case CollectiveOperation::kAllToAll:
      return read == written && read % size == 0
                 ? nullptr
                 : "it must write as many as it reads, an equal part of them for each member";
    case CollectiveOperation::kAllReduce:
    case CollectiveOperation::kShift:
    case CollectiveOperation::kBroadcast:
      return read == written ? nullptr : "it must write as many as it reads";
  }
  return nullptr;
}

void check_rows(const Task& task, const Group& group, Operands& operands) {
  const auto& collective = std::get<Collective>(task.descriptor);
  const int64_t read = num_rows(task.reads);
  const int64_t written = num_rows(task.writes);
  for (const int size : instance_sizes(group)) {
    if (const char* rule = rows_rule(collective.operation, read, written, size)) {
      operands.fail(fmt::format("{} over {} members reads {} rows and writes {}; {}",
                                to_string(collective.operation),
                                size,
                                read,
                                written,
                                rule));
    }
  }
}

// Rows that a routing leaves empty are counted by place (ValidRows): a chunk keeps its rows.
void check_same_place(const Task& task, Operands& operands) {
  if (task.reads.size() != 1 || task.writes.size() != 1) {
    return;
  }
  const Operand input = operands.read(0, "input");
  const Operand output = operands.write(0, "output");
  const bool chunk_of_both = input.tensor->rows == output.tensor->rows &&
                             input.region->num_rows == output.region->num_rows;
  if (chunk_of_both && input.region->first_row != output.region->first_row) {
    operands.fail(fmt::format(
        "{} and {} must be the same rows of their blocks", shape_text(input), shape_text(output)));
  }
}

void check_row_type(const Program& program, const Task& task, Operands& operands) {
  const Tensor* first = nullptr;
  for (const std::vector<Region>* regions : {&task.reads, &task.writes}) {
    for (const Region& region : *regions) {
      const Tensor& tensor = program.tensors[region.tensor];
      first = first == nullptr ? &tensor : first;
      if (tensor.columns != first->columns || tensor.dtype != first->dtype) {
        operands.fail(fmt::format("rows of '{}' are {} x {}, rows of '{}' are {} x {}",
                                  first->name,
                                  first->columns,
                                  to_string(first->dtype),
                                  tensor.name,
                                  tensor.columns,
                                  to_string(tensor.dtype)));
      }
    }
  }
}

}  // namespace

std::optional<std::string> collective_fault(const Program& program, const Task& task) {
  const auto& collective = std::get<Collective>(task.descriptor);
  if (task.reads.empty() && task.writes.empty()) {
    return std::nullopt;
  }
  Operands operands(program, task);
  check_row_type(program, task, operands);
  if (!task.reads.empty() && !task.writes.empty()) {
    check_rows(task, program.groups[collective.group], operands);
    check_same_place(task, operands);
  } else if (!may_be_one_sided(collective.operation)) {
    operands.fail(fmt::format("{} must both read and write", to_string(collective.operation)));
  }
  const int64_t bytes = collective_bytes(program, task);
  if (collective.bytes != bytes) {
    operands.fail(fmt::format("it is given {} bytes, but its regions make {}; leave the bytes out",
                              collective.bytes,
                              bytes));
  }
  return operands.fault();
}

}  // namespace moesim
