#pragma once

#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "sim/program/verifier.h"

namespace moesim {

// Collects what is wrong with a Program: each matter once, and no more than a person can read.
class Problems {
 public:
  static constexpr int kMaxListed = 1000;

  explicit Problems(const Program& program) : program_(&program) {}

  // `subject` tells problems of the same kind and tasks apart: a tensor, or kNone.
  void add(ProblemKind kind, std::vector<int> tasks, int subject, std::string message);

  bool empty() const { return list_.empty(); }
  bool full() const { return static_cast<int>(list_.size()) >= kMaxListed; }
  // "'NAME'" of a task.
  std::string name(int task) const;

  std::vector<Problem> take() && { return std::move(list_); }

 private:
  const Program* program_;
  std::vector<Problem> list_;
  std::set<std::tuple<ProblemKind, std::vector<int>, int>> known_;
};

// The checks of verify(), each in a file of its own.

// Waits that name later tasks, which no launch order can satisfy (deadlock).
void check_waits(const Program& program, Problems& problems);
// Regions beyond their tensors, and ranks that need a place in a group and have none.
void check_bounds(const Program& program, Problems& problems);
// Shapes and bytes that do not fit the task's kind.
void check_operands(const Program& program, Problems& problems);
// Races, unwritten reads and double writes. Regions must be within bounds.
void check_data(const Program& program, Problems& problems);
// Collectives that do not match between roles; where all match, deadlocks.
void check_collectives(const Program& program, int hardware_queues, Problems& problems);

// Head-of-line blocking: a warning for each pair of streams that share a hardware queue in which a
// task must start before one that it has nothing to do with.
std::vector<std::string> head_of_line_warnings(const Program& program, int hardware_queues);

// Rows that nothing reads, unlike others of their tensor, and sums that are read too early.
std::vector<std::string> row_warnings(const Program& program);

}  // namespace moesim
