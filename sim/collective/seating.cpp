#include "sim/collective/seating.h"

#include <map>

namespace moesim {

Seating::Seating(const std::vector<int>& nodes) {
  std::map<int, int> known;
  for (int member = 0; member < std::ssize(nodes); ++member) {
    const auto [found, is_new] = known.try_emplace(nodes[member], num_nodes());
    if (is_new) {
      on_node.emplace_back();
    }
    std::vector<int>& here = on_node[found->second];
    node.push_back(found->second);
    place.push_back(static_cast<int>(here.size()));
    here.push_back(member);
  }
  for (const std::vector<int>& here : on_node) {
    is_even = is_even && here.size() == on_node[0].size();
  }
}

int Seating::relay(int at_node, int of) const {
  const std::vector<int>& there = on_node[at_node];
  return there[static_cast<std::size_t>(place[of]) % there.size()];
}

}  // namespace moesim
