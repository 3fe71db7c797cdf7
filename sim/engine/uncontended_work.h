#pragma once

#include <array>
#include <vector>

#include "sim/analysis/bounds.h"
#include "sim/base/time.h"
#include "sim/collective/collective_cost.h"
#include "sim/io/cluster.h"
#include "sim/io/profile.h"
#include "sim/io/program.h"

namespace moesim {

// What a Program asks of the GPUs when nothing gets in its way.
struct UncontendedWork {
  std::vector<RankWork> ranks;               // one of each class of ranks with the same costs
  std::array<Time, kNumPorts> port_loads{};  // the most that any rank puts on each port
  Time link_load;                            // the most that all together put on any medium
  int busiest_medium = kNone;                // which
};

// `cluster` and `profile` as for simulate. Throws Error where the tasks of one rank take more than
// 100 days together: their sums could overflow.
UncontendedWork uncontended_work(const Program& program,
                                 const Cluster* cluster,
                                 const Profile* profile);

}  // namespace moesim
