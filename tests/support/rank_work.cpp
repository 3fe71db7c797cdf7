#include "tests/support/rank_work.h"

#include <map>
#include <tuple>

#include "sim/analysis/data_dependences.h"

namespace moesim::test {

std::vector<RankWork> work_of_ranks(const Program& program, const std::vector<Time>& durations) {
  GroupTable groups;
  groups.update(program);
  const RoleTable roles(program);
  std::map<std::tuple<int, int, int, int>, int> numbers;  // of (group, instance, stream, k)
  std::vector<RankWork> ranks;
  for (int rank = 0; rank < program.num_ranks; ++rank) {
    RankWork work{.rank = rank,
                  .durations = std::vector<Time>(program.tasks.size()),
                  .collectives = std::vector<int>(program.tasks.size(), kNone)};
    std::map<std::pair<int, int>, int> turns;
    for (const int index : tasks_of_rank(program, roles, groups, rank)) {
      const Task& task = program.tasks[index];
      const bool scaled = std::holds_alternative<Fixed>(task.descriptor);
      work.durations[index] = scaled && !program.rank_scale.empty()
                                  ? durations[index].scaled(program.rank_scale[rank])
                                  : durations[index];
      if (const auto* collective = std::get_if<Collective>(&task.descriptor)) {
        const int turn = turns[{collective->group, task.stream}]++;
        const int instance = groups.instance(collective->group, rank);
        const auto next = static_cast<int>(numbers.size());
        work.collectives[index] =
            numbers.emplace(std::tuple(collective->group, instance, task.stream, turn), next)
                .first->second;
      }
    }
    ranks.push_back(std::move(work));
  }
  return ranks;
}

}  // namespace moesim::test
