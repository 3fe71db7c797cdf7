#include "tests/support/hand_program.h"

#include <utility>

#include <fmt/core.h>

namespace moesim::test {

HandProgram::HandProgram(int num_ranks, std::vector<std::string> streams) {
  program_.name = "by hand";
  program_.num_ranks = num_ranks;
  program_.streams = std::move(streams);
}

int HandProgram::add_group(const std::string& name, std::vector<std::vector<int>> members) {
  program_.groups.push_back({name, std::move(members)});
  return static_cast<int>(program_.groups.size()) - 1;
}

int HandProgram::add_tensor(const std::string& name, int rows, bool input) {
  Tensor tensor;
  tensor.name = name;
  tensor.rows = rows;
  tensor.columns = 1;
  tensor.input = input;
  program_.tensors.push_back(tensor);
  return static_cast<int>(program_.tensors.size()) - 1;
}

int HandProgram::add_fixed(const std::string& kind, int stream, Time time, std::vector<int> waits) {
  Task task;
  task.kind = kind;
  task.stream = stream;
  task.waits = std::move(waits);
  task.descriptor = Fixed{time};
  return add(std::move(task), time);
}

int HandProgram::add_collective(const std::string& kind,
                                int stream,
                                const Collective& collective,
                                Time time,
                                std::vector<int> waits) {
  Task task;
  task.kind = kind;
  task.stream = stream;
  task.waits = std::move(waits);
  task.descriptor = collective;
  return add(std::move(task), time);
}

int HandProgram::add_host_wait(std::vector<int> waits) {
  Task task;
  task.kind = "host_wait";
  task.waits = std::move(waits);
  task.descriptor = HostWait{};
  return add(std::move(task), Time::zero());
}

int HandProgram::add(Task task, Time time) {
  const int index = static_cast<int>(program_.tasks.size());
  if (task.name.empty()) {
    task.name = fmt::format("{}{}", task.kind, index);
  }
  program_.tasks.push_back(std::move(task));
  durations_.push_back(time);
  return index;
}

Collective all_to_all(int group) {
  Collective collective;
  collective.operation = CollectiveOperation::kAllToAll;
  collective.group = group;
  return collective;
}

Region rows(const Program& program, int tensor) {
  return rows(tensor, 0, program.tensors[tensor].rows);
}

Region rows(int tensor, int first, int count) {
  Region region;
  region.tensor = tensor;
  region.num_blocks = 1;
  region.first_row = first;
  region.num_rows = count;
  return region;
}

}  // namespace moesim::test
