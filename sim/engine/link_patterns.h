#pragma once

#include <memory>
#include <vector>

#include "sim/engine/task_cost.h"

namespace moesim {

// What the collectives of a Program put on the links of its cluster, once for all tasks that load
// them alike.
struct LinkPatterns {
  struct Pattern {
    const std::vector<std::vector<int>>* members = nullptr;  // of the group's instances
    std::shared_ptr<const GroupLoads> loads;
    bool per_byte = true;  // else seconds in all
    int group = kNone;
  };

  std::vector<Pattern> patterns;          // none where the cluster has no links
  std::vector<std::vector<int>> of_task;  // by phase; none: puts nothing on links
};

LinkPatterns make_link_patterns(TaskCosts& costs);

}  // namespace moesim
