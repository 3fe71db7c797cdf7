#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "sim/analysis/bounds.h"
#include "sim/base/time.h"
#include "sim/collective/collective_cost.h"
#include "sim/io/cluster.h"
#include "sim/io/profile.h"
#include "sim/io/program.h"

namespace moesim {

// What all collectives together put on a medium.
struct MediumWork {
  int medium = 0;  // the lowest of its class
  Time load;
};

// What a Program asks of the GPUs when nothing gets in its way.
struct UncontendedWork {
  std::vector<RankWork> ranks;               // one of each class of ranks with the same costs
  std::array<Time, kNumPorts> port_loads{};  // the most that any rank puts on each port
  std::vector<MediumWork> media;             // one of each class of media that are used alike
  std::vector<int> class_of_medium;          // index into `media`, kNone: unused; empty: no links
};

// `cluster` and `profile` as for simulate. Throws Error where the tasks of one rank take more than
// 100 days together: their sums could overflow.
UncontendedWork uncontended_work(const Program& program,
                                 const Cluster* cluster,
                                 const Profile* profile);

// The same of what was simulated, whatever the resolution: of every rank where none is folded.
struct Workload;
UncontendedWork uncontended_work(const Workload& workload, std::size_t num_tasks);

}  // namespace moesim
