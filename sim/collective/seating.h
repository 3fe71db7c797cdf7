#pragma once

#include <vector>

namespace moesim {

// How the members of a group instance sit on nodes, as indices in the group.
struct Seating {
  explicit Seating(const std::vector<int>& nodes);  // of each member

  std::vector<std::vector<int>> on_node;  // nodes in the order in which the group comes to them
  std::vector<int> node;                  // by member: which of on_node
  std::vector<int> place;                 // by member: where in on_node[node]
  bool is_even = true;                    // as many on each

  int size() const { return static_cast<int>(node.size()); }
  int num_nodes() const { return static_cast<int>(on_node.size()); }

  // The member of a node that messages for `of` go by: the one of its place, counted around.
  int relay(int at_node, int of) const;
};

}  // namespace moesim
