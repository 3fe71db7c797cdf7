#include "kernels/device/communicator_plan.h"

#include <algorithm>
#include <variant>

namespace moesim {
namespace {

bool has_company(const std::vector<int>& members) {
  return members.size() > 1;
}

}  // namespace

std::vector<CommunicatorKey> plan_communicators(const Program& program) {
  std::vector<CommunicatorKey> keys;
  for (const Task& task : program.tasks) {
    const auto* collective = std::get_if<Collective>(&task.descriptor);
    if (collective == nullptr) {
      continue;
    }
    const CommunicatorKey key{collective->group, task.stream};
    const bool is_needed = std::ranges::any_of(program.groups[key.group].members, has_company);
    if (is_needed && std::ranges::find(keys, key) == keys.end()) {
      keys.push_back(key);
    }
  }
  return keys;
}

CommunicatorSeat seat_in(const Program& program,
                         const GroupTable& groups,
                         const CommunicatorKey& key,
                         int rank) {
  const int instance = groups.instance(key.group, rank);
  if (instance == kNone || !has_company(program.groups[key.group].members[instance])) {
    return {};
  }
  return {instance, groups.index(key.group, rank)};
}

}  // namespace moesim
