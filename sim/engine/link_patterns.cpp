#include "sim/engine/link_patterns.h"

#include <map>
#include <utility>

namespace moesim {
namespace {

LinkPatterns::Pattern make_pattern(const Task& task, TaskCosts& costs) {
  const Group& group = costs.program().groups[std::get<Collective>(task.descriptor).group];
  return {.members = &group.members,
          .loads = costs.link_loads(task),
          .per_byte = !costs.depends_on_rank(task)};
}

}  // namespace

LinkPatterns make_link_patterns(TaskCosts& costs) {
  LinkPatterns made;
  made.of_task.assign(costs.program().tasks.size(), kNone);
  if (!costs.has_links()) {
    return made;
  }
  std::map<std::pair<int, const GroupLoads*>, int> known;  // by group and loads
  for (size_t i = 0; i < made.of_task.size(); ++i) {
    const Task& task = costs.program().tasks[i];
    const auto* collective = std::get_if<Collective>(&task.descriptor);
    if (collective == nullptr) {
      continue;
    }
    const LinkPatterns::Pattern pattern = make_pattern(task, costs);
    const auto next = static_cast<int>(made.patterns.size());
    const auto [found, is_new] = known.try_emplace({collective->group, pattern.loads.get()}, next);
    made.of_task[i] = found->second;
    if (is_new) {
      made.patterns.push_back(pattern);
    }
  }
  return made;
}

}  // namespace moesim
