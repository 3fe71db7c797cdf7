#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "sim/io/program.h"

// How tests break the order of a Program.
namespace moesim::testing {

inline bool touch(const std::vector<Region>& left, const std::vector<Region>& right) {
  return std::any_of(left.begin(), left.end(), [&](const Region& one) {
    return std::any_of(right.begin(), right.end(), [&](const Region& other) {
      return one.tensor == other.tensor && one.first_row == other.first_row &&
             one.first_block == other.first_block;
    });
  });
}

// True when `reader` needs what `writer` made. Two that only add to the same sum do not: which adds
// first is part of the result's bits, and for the equality tests of real execution to see.
inline bool needs(const Task& reader, const Task& writer) {
  return touch(writer.writes, reader.reads) && !touch(writer.writes, reader.writes);
}

// Two tasks change places; what waited for either still waits for the same task.
inline Program with_tasks_swapped(const Program& program, int first, int second) {
  Program mutant = program;
  std::swap(mutant.tasks[static_cast<size_t>(first)], mutant.tasks[static_cast<size_t>(second)]);
  for (Task& task : mutant.tasks) {
    for (int& wait : task.waits) {
      if (wait == first) {
        wait = second;
      } else if (wait == second) {
        wait = first;
      }
    }
    std::sort(task.waits.begin(), task.waits.end());
  }
  return mutant;
}

// Neighbours of one stream, the earlier first, of which the later one needs the earlier one.
inline std::vector<std::pair<int, int>> dependent_neighbours(const Program& program) {
  std::vector<std::pair<int, int>> pairs;
  std::vector<int> last_on_stream(program.streams.size(), kNone);
  for (int task = 0; task < static_cast<int>(program.tasks.size()); ++task) {
    const Task& later = program.tasks[static_cast<size_t>(task)];
    int& last = last_on_stream[static_cast<size_t>(later.stream)];
    const int previous = std::exchange(last, task);
    if (previous != kNone && needs(later, program.tasks[static_cast<size_t>(previous)])) {
      pairs.emplace_back(previous, task);
    }
  }
  return pairs;
}

}  // namespace moesim::testing
