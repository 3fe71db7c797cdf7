#include "sim/collective/flows.h"

#include <algorithm>
#include <map>

#include "sim/collective/cost_curve.h"

namespace moesim {
namespace {

using Visit = std::function<void(const MemberFlow&)>;

void all_to_all(int size, const Visit& visit) {
  for (int from = 0; from < size; ++from) {
    for (int to = 0; to < size; ++to) {
      if (from != to) {
        visit({from, to, 1.0 / size});
      }
    }
  }
}

void shift(const Collective& collective, int size, const Visit& visit) {
  for (int from = 0; from < size; ++from) {
    int to = from + (collective.wrap ? collective.distance % size : collective.distance);
    if (collective.wrap) {
      to = (to + size) % size;
    }
    if (to >= 0 && to < size && to != from) {
      visit({from, to, 1});
    }
  }
}

// Members by node, nodes in the order in which the group comes to them.
std::vector<std::vector<int>> by_node(const std::vector<int>& nodes) {
  std::map<int, size_t> place;
  std::vector<std::vector<int>> members;
  for (int i = 0; i < std::ssize(nodes); ++i) {
    const auto [found, is_new] = place.try_emplace(nodes[i], members.size());
    if (is_new) {
      members.emplace_back();
    }
    members[found->second].push_back(i);
  }
  return members;
}

// Member orders of all rings.
std::vector<std::vector<int>> rings(const std::vector<int>& nodes) {
  const std::vector<std::vector<int>> members = by_node(nodes);
  const bool are_equal = std::ranges::all_of(
      members, [&](const auto& on_node) { return on_node.size() == members[0].size(); });
  const size_t count = members.size() == 1 || !are_equal ? 1 : members[0].size();
  std::vector<std::vector<int>> orders(count);
  for (size_t ring = 0; ring < count; ++ring) {
    for (const std::vector<int>& on_node : members) {
      for (size_t i = 0; i < on_node.size(); ++i) {
        orders[ring].push_back(on_node[(i + ring) % on_node.size()]);
      }
    }
  }
  return orders;
}

void over_rings(const Collective& collective, const std::vector<int>& nodes, const Visit& visit) {
  const std::vector<std::vector<int>> orders = rings(nodes);
  const auto size = static_cast<int>(nodes.size());
  const double share = wire_share(collective.operation, size) / static_cast<double>(orders.size());
  const bool is_broadcast = collective.operation == CollectiveOperation::kBroadcast;
  for (const std::vector<int>& order : orders) {
    for (int i = 0; i < size; ++i) {
      const int to = order[(i + 1) % size];
      if (!is_broadcast || to != collective.root) {
        visit({order[i], to, share});
      }
    }
  }
}

}  // namespace

void for_each_flow(const Collective& collective,
                   const std::vector<int>& nodes,
                   const Visit& visit) {
  const auto size = static_cast<int>(nodes.size());
  if (size < 2) {
    return;
  }
  switch (collective.operation) {
    case CollectiveOperation::kAllToAll:
      all_to_all(size, visit);
      break;
    case CollectiveOperation::kShift:
      shift(collective, size, visit);
      break;
    default:
      over_rings(collective, nodes, visit);
  }
}

}  // namespace moesim
