#pragma once

#include <string>
#include <vector>

#include "sim/io/program.h"

namespace moesim::testing {

// A Program of one rank and one stream, put together task by task on whole tensors.
class DeviceBench {
 public:
  DeviceBench() {
    program_.num_ranks = 1;
    program_.streams = {"compute"};
  }

  const Program& program() const { return program_; }

  int tensor(
      int blocks, int rows, int columns, bool input = false, DataType type = DataType::kFp32) {
    const auto number = static_cast<int>(program_.tensors.size());
    program_.tensors.push_back(
        {"t" + std::to_string(number), blocks, rows, columns, type, input, number, {}});
    return number;
  }

  Task& add(const Descriptor& descriptor,
            const std::vector<int>& reads,
            const std::vector<int>& writes,
            Pass pass = Pass::kForward) {
    Task& task = program_.tasks.emplace_back();
    task.name = "task" + std::to_string(program_.tasks.size());
    task.stream = 0;
    task.pass = pass;
    task.descriptor = descriptor;
    task.reads = regions(reads);
    task.writes = regions(writes);
    return task;
  }

 private:
  std::vector<Region> regions(const std::vector<int>& tensors) const {
    std::vector<Region> all;
    for (const int tensor : tensors) {
      const Tensor& shape = program_.tensors[static_cast<size_t>(tensor)];
      all.push_back({tensor, 0, shape.blocks, 0, shape.rows, kNone});
    }
    return all;
  }

  Program program_;
};

}  // namespace moesim::testing
