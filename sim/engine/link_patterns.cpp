#include "sim/engine/link_patterns.h"

#include <map>

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
  std::map<CollectiveCosts::LinkKey, int> known;
  for (size_t i = 0; i < made.of_task.size(); ++i) {
    const Task& task = costs.program().tasks[i];
    const auto* collective = std::get_if<Collective>(&task.descriptor);
    if (collective == nullptr) {
      continue;
    }
    const int next = static_cast<int>(made.patterns.size());
    made.of_task[i] = costs.depends_on_rank(task)
                          ? next
                          : known.try_emplace(costs.link_key(task), next).first->second;
    if (made.of_task[i] == next) {
      made.patterns.push_back(make_pattern(task, costs));
    }
  }
  return made;
}

}  // namespace moesim
