#include "sim/program/group_table.h"

#include <algorithm>

#include "sim/base/check.h"

namespace moesim {

void GroupTable::update(const Program& program) {
  for (std::size_t i = groups_.size(); i < program.groups.size(); ++i) {
    groups_.push_back(make_entry(program.groups[i], program.num_ranks));
  }
}

GroupTable::Entry GroupTable::make_entry(const Group& group, int num_ranks) {
  Entry entry;
  entry.instance.assign(num_ranks, kNone);
  entry.index.assign(num_ranks, kNone);
  const int num_instances = static_cast<int>(group.members.size());
  for (int instance = 0; instance < num_instances; ++instance) {
    const std::vector<int>& members = group.members[instance];
    for (int index = 0; index < static_cast<int>(members.size()); ++index) {
      const int rank = members[index];
      CHECK(0 <= rank && rank < num_ranks, "group '{}' holds rank {}", group.name, rank);
      CHECK(entry.instance[rank] == kNone, "group '{}' holds rank {} twice", group.name, rank);
      entry.instance[rank] = instance;
      entry.index[rank] = index;
    }
  }
  entry.covers_all =
      std::find(entry.instance.begin(), entry.instance.end(), kNone) == entry.instance.end();
  const std::size_t first_size = group.members.empty() ? 0 : group.members.front().size();
  const bool uniform =
      std::all_of(group.members.begin(), group.members.end(), [&](const auto& members) {
        return members.size() == first_size;
      });
  entry.uniform_size = uniform ? static_cast<int>(first_size) : 0;
  return entry;
}

}  // namespace moesim
