#pragma once

#include <string>
#include <vector>

#include "sim/base/time.h"
#include "sim/io/program.h"

namespace moesim::test {

inline Time ps(std::int64_t picoseconds) {
  return Time::from_picoseconds(picoseconds);
}

// Builds small Programs by hand, for tests that check them by hand: every task has the duration
// that the test says, and waits as it says.
class HandProgram {
 public:
  HandProgram(int num_ranks, std::vector<std::string> streams);

  int add_group(const std::string& name, std::vector<std::vector<int>> members);
  // Bytes = rows * 4: one column of FP32.
  int add_tensor(const std::string& name, int rows, bool input = false);

  // Each returns the task's index; the task's name is `kind` and that index. Change what is special
  // about it in task().
  int add_fixed(const std::string& kind, int stream, Time time, std::vector<int> waits = {});
  int add_collective(const std::string& kind,
                     int stream,
                     const Collective& collective,
                     Time time,
                     std::vector<int> waits = {});
  int add_host_wait(std::vector<int> waits);
  int add(Task task, Time time);

  Task& task(int index) { return program_.tasks[index]; }
  const Program& program() const { return program_; }
  const std::vector<Time>& durations() const { return durations_; }

 private:
  Program program_;
  std::vector<Time> durations_;
};

Collective all_to_all(int group);

// All rows of a tensor of add_tensor, or rows [first, first + count).
Region rows(const Program& program, int tensor);
Region rows(int tensor, int first, int count);

// Two layers of an FSMoE-like schedule on two nodes of two GPUs, degree 2, forward and backward, on
// streams compute, intra and inter: small enough to look at, with everything that a picture has.
HandProgram two_layer_program();

}  // namespace moesim::test
