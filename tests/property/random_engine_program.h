#pragma once

#include <string>
#include <vector>

#include "sim/base/random.h"
#include "tests/unit/engine/program_maker.h"

namespace moesim {

inline int pick(Random& random, int first, int last) {
  return static_cast<int>(random.uniform_int(first, last));
}

// Each earlier task with the probability that makes about `expected` of them.
inline std::vector<int> pick_waits(Random& random, int num_tasks, double expected) {
  std::vector<int> waits;
  for (int task = 0; task < num_tasks; ++task) {
    if (random.uniform() * num_tasks < expected) {
      waits.push_back(task);
    }
  }
  return waits;
}

inline std::string pick_stream(Random& random, int num_streams) {
  return "s" + std::to_string(pick(random, 0, num_streams - 1));
}

// Cuts the ranks, shuffled, into instances of 1 to max_size; may leave the last ones out.
inline std::vector<std::vector<int>> pick_members(Random& random, int num_ranks, int max_size) {
  std::vector<int> ranks(num_ranks);
  for (int rank = 0; rank < num_ranks; ++rank) {
    ranks[rank] = rank;
  }
  random.shuffle(ranks);
  std::vector<std::vector<int>> members;
  for (int next = 0; next < num_ranks;) {
    const int size = std::min(pick(random, 1, max_size), num_ranks - next);
    members.emplace_back(ranks.begin() + next, ranks.begin() + next + size);
    next += size;
    if (random.uniform() < 0.2) {
      break;
    }
  }
  return members;
}

}  // namespace moesim
