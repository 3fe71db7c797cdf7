#include "sim/engine/link_patterns.h"

#include <map>

namespace moesim {
namespace {

LinkPatterns::Pattern make_pattern(const Task& task, int phase, TaskCosts& costs) {
  const int group = std::get<Collective>(task.descriptor).group;
  return {.members = &costs.program().groups[group].members,
          .loads = costs.link_loads(task, phase),
          .per_byte = !costs.depends_on_rank(task),
          .group = group};
}

}  // namespace

LinkPatterns make_link_patterns(TaskCosts& costs) {
  LinkPatterns made;
  made.of_task.resize(costs.program().tasks.size());
  if (!costs.has_links()) {
    return made;
  }
  std::map<CollectiveCosts::LinkKey, int> known;
  for (size_t i = 0; i < made.of_task.size(); ++i) {
    const Task& task = costs.program().tasks[i];
    if (!std::holds_alternative<Collective>(task.descriptor)) {
      continue;
    }
    for (int phase = 0; phase < costs.num_phases(task); ++phase) {
      const int next = static_cast<int>(made.patterns.size());
      const int pattern = costs.depends_on_rank(task)
                              ? next
                              : known.try_emplace(costs.link_key(task, phase), next).first->second;
      if (pattern == next) {
        made.patterns.push_back(make_pattern(task, phase, costs));
      }
      made.of_task[i].push_back(pattern);
    }
  }
  return made;
}

}  // namespace moesim
