#include "sim/program/verifier.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "sim/base/check.h"
#include "sim/base/message.h"
#include "sim/program/footprint.h"
#include "sim/program/operands.h"
#include "sim/program/problems.h"
#include "sim/program/role_table.h"

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

// The group by which the task divides or gathers blocks on each rank by itself, or kNone.
int group_of_blocks(const Task& task) {
  if (const auto* slice = std::get_if<Slice>(&task.descriptor)) {
    return slice->group;
  }
  if (const auto* replicate = std::get_if<Replicate>(&task.descriptor)) {
    return replicate->group;
  }
  const auto* sum = std::get_if<LocalSum>(&task.descriptor);
  return sum != nullptr ? sum->group : kNone;
}

// A collective passes by the ranks outside its group; a task that each rank runs by itself needs a
// place in it on every rank.
void check_places(const Program& program,
                  const RoleTable& roles,
                  const GroupTable& groups,
                  Problems& problems) {
  for (int index = 0; index < static_cast<int>(program.tasks.size()); ++index) {
    const Task& task = program.tasks[index];
    const int group = group_of_blocks(task);
    if (group == kNone || groups.covers_all(group)) {
      continue;
    }
    for (const int role : roles.running(task)) {
      const std::vector<int>& ranks = roles.ranks(role);
      const auto outside = std::find_if(ranks.begin(), ranks.end(), [&](int rank) {
        return groups.instance(group, rank) == kNone;
      });
      if (outside != ranks.end()) {
        problems.add(ProblemKind::kOutOfBounds,
                     {index},
                     kNone,
                     fmt::format("task {} ({}): rank {} runs it and has no place in group '{}'",
                                 problems.name(index),
                                 descriptor_name(task.descriptor),
                                 *outside,
                                 program.groups[group].name));
      }
    }
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

std::string to_string(const Problem& problem) {
  return fmt::format("{}: {}", to_string(problem.kind), visible_in_line(problem.message));
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

std::vector<Problem> out_of_bounds(const Program& program) {
  Problems problems(program);
  check_bounds(program, problems);
  return std::move(problems).take();
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
  check_places(program, RoleTable(program), groups, problems);
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
