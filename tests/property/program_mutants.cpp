#include "tests/property/program_mutants.h"

#include <algorithm>
#include <utility>

namespace moesim::testing {
namespace {

bool touch(const std::vector<Region>& left, const std::vector<Region>& right) {
  return std::any_of(left.begin(), left.end(), [&](const Region& one) {
    return std::any_of(right.begin(), right.end(), [&](const Region& other) {
      return one.tensor == other.tensor && one.first_row == other.first_row &&
             one.first_block == other.first_block;
    });
  });
}

bool needs(const Task& later, const Task& earlier) {
  return touch(earlier.writes, later.reads) && !touch(earlier.writes, later.writes);
}

}  // namespace

std::vector<std::pair<int, int>> dependent_neighbours(const Program& program) {
  std::vector<std::pair<int, int>> neighbours;
  std::vector<int> last_on_stream(program.streams.size(), kNone);
  for (int task = 0; task < static_cast<int>(program.tasks.size()); ++task) {
    const Task& later = program.tasks[static_cast<size_t>(task)];
    const int previous = std::exchange(last_on_stream[static_cast<size_t>(later.stream)], task);
    if (previous != kNone && needs(later, program.tasks[static_cast<size_t>(previous)])) {
      neighbours.emplace_back(previous, task);
    }
  }
  return neighbours;
}

Program with_tasks_swapped(const Program& program, int first, int second) {
  Program mutant = program;
  std::swap(mutant.tasks[static_cast<size_t>(first)], mutant.tasks[static_cast<size_t>(second)]);
  for (Task& task : mutant.tasks) {
    for (int& wait : task.waits) {
      wait = wait == first ? second : (wait == second ? first : wait);
    }
    std::sort(task.waits.begin(), task.waits.end());
  }
  return mutant;
}

Program with_two_roles(const Program& program) {
  Program split = program;
  split.roles = {{"first", {0}}, {"others", {}}};
  for (int rank = 1; rank < program.num_ranks; ++rank) {
    split.roles.back().ranks.push_back(rank);
  }
  split.tasks.clear();
  for (int role = 0; role < 2; ++role) {
    for (Task task : program.tasks) {
      task.roles = {role};
      task.name += role == 0 ? ".first" : ".others";
      for (std::vector<int>* waits : {&task.waits, &task.order_only}) {
        for (int& wait : *waits) {
          wait += role * static_cast<int>(program.tasks.size());
        }
      }
      split.tasks.push_back(std::move(task));
    }
  }
  return split;
}

std::map<std::pair<int, int>, std::vector<int>> communicators(const Program& split) {
  std::map<std::pair<int, int>, std::vector<int>> tasks;
  for (int i = static_cast<int>(split.tasks.size()) / 2; i < std::ssize(split.tasks); ++i) {
    const Task& task = split.tasks[static_cast<size_t>(i)];
    const auto* collective = std::get_if<Collective>(&task.descriptor);
    if (collective != nullptr) {
      tasks[{collective->group, task.stream}].push_back(i);
    }
  }
  return tasks;
}

}  // namespace moesim::testing
