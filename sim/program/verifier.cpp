#include "sim/program/verifier.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "sim/base/check.h"
#include "sim/program/footprint.h"
#include "sim/program/operands.h"
#include "sim/program/problems.h"

namespace moesim {
namespace {

void check_structure(const Program& program) {
  for (const Task& task : program.tasks) {
    const bool has_stream =
        0 <= task.stream && task.stream < static_cast<int>(program.streams.size());
    const bool is_host_wait = std::holds_alternative<HostWait>(task.descriptor);
    CHECK(is_host_wait ? task.stream == kNone : has_stream,
          "task '{}' is on stream {}",
          task.name,
          task.stream);
  }
}

}  // namespace

const char* to_string(ProblemKind kind) {
  constexpr std::array kNames{"race",
                              "unwritten_read",
                              "double_write",
                              "out_of_bounds",
                              "mismatched_collective",
                              "byte_mismatch",
                              "deadlock"};
  return kNames.at(static_cast<std::size_t>(kind));
}

Verdict verify(const Program& program, const VerifierOptions& options) {
  CHECK(options.hardware_queues > 0, "{} hardware queues", options.hardware_queues);
  check_structure(program);
  Problems problems(program);
  check_waits(program, problems);
  check_bounds(program, problems);
  if (problems.empty()) {  // what follows cannot make sense of such regions and waits
    check_operands(program, problems);
    check_data(program, problems);
    check_collectives(program, options.hardware_queues, problems);
  }
  Verdict verdict;
  if (problems.empty()) {
    verdict.warnings = head_of_line_warnings(program, options.hardware_queues);
    const std::vector<std::string> rows = row_warnings(program);
    verdict.warnings.insert(verdict.warnings.end(), rows.begin(), rows.end());
  }
  if (problems.full()) {
    verdict.warnings.push_back(
        fmt::format("only the first {} problems are listed", Problems::kMaxListed));
  }
  verdict.problems = std::move(problems).take();
  return verdict;
}

void check_waits(const Program& program, Problems& problems) {
  const auto num_tasks = static_cast<int>(program.tasks.size());
  for (int task = 0; task < num_tasks; ++task) {
    for (const std::vector<int>* waits :
         {&program.tasks[task].waits, &program.tasks[task].order_only}) {
      for (const int wait : *waits) {
        CHECK(0 <= wait && wait < num_tasks, "task {} waits for task {}", task, wait);
        if (wait >= task) {
          problems.add(ProblemKind::kDeadlock,
                       {wait, task},
                       kNone,
                       fmt::format("task {} waits for {}, which is launched later; only earlier "
                                   "tasks can be waited for",
                                   problems.name(task),
                                   wait == task ? "itself" : problems.name(wait)));
        }
      }
    }
  }
}

void check_bounds(const Program& program, Problems& problems) {
  GroupTable groups;
  groups.update(program);
  const auto check = [&](int task, const Region& region, Use use) {
    const auto fault = bounds_fault(program, groups, program.tasks[task], region, use);
    if (fault) {
      problems.add(ProblemKind::kOutOfBounds,
                   {task},
                   region.tensor,
                   fmt::format("task {} {} tensor '{}' out of bounds: {}",
                               problems.name(task),
                               use == Use::kRead ? "reads" : "writes",
                               program.tensors[region.tensor].name,
                               *fault));
    }
  };
  for (int task = 0; task < static_cast<int>(program.tasks.size()); ++task) {
    for (const Region& region : program.tasks[task].reads) {
      check(task, region, Use::kRead);
    }
    for (const Region& region : program.tasks[task].writes) {
      check(task, region, Use::kWrite);
    }
  }
}

void check_operands(const Program& program, Problems& problems) {
  for (int task = 0; task < static_cast<int>(program.tasks.size()); ++task) {
    if (const auto fault = operand_fault(program, program.tasks[task])) {
      problems.add(ProblemKind::kByteMismatch,
                   {task},
                   kNone,
                   fmt::format("task {} ({}): {}",
                               problems.name(task),
                               descriptor_name(program.tasks[task].descriptor),
                               *fault));
    }
  }
}

}  // namespace moesim
