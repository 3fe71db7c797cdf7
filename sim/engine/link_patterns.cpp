#include "sim/engine/link_patterns.h"

#include <map>
#include <utility>

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
  std::map<std::pair<int, const GroupLoads*>, int> known;  // by group and loads
  for (size_t i = 0; i < made.of_task.size(); ++i) {
    const Task& task = costs.program().tasks[i];
    if (!std::holds_alternative<Collective>(task.descriptor)) {
      continue;
    }
    for (int phase = 0; phase < costs.num_phases(task); ++phase) {
      const LinkPatterns::Pattern pattern = make_pattern(task, phase, costs);
      const auto next = static_cast<int>(made.patterns.size());
      const auto [found, is_new] = known.try_emplace({pattern.group, pattern.loads.get()}, next);
      made.of_task[i].push_back(found->second);
      if (is_new) {
        made.patterns.push_back(pattern);
      }
    }
  }
  return made;
}

}  // namespace moesim
