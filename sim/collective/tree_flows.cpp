#include "sim/collective/tree_flows.h"

#include <algorithm>
#include <bit>

namespace moesim {
namespace {

// The binary tree in which leaves and inner ones alternate: i, whose lowest bit is b, hangs below
// the number with that bit moved up by one, or taken away where that one does not exist.
int parent(int i, int size) {
  const int lowest = i & -i;
  const int without = i ^ lowest;
  const int moved = without | (lowest << 1);
  return moved < size ? moved : without;
}

// The same tree once more, so that leaves become inner ones: mirrored for an even number, else
// shifted by one.
int number_in_second(int i, int size) {
  return size % 2 == 0 ? size - 1 - i : (i + 1) % size;
}

void up_and_down(int child, int above, double share, const VisitFlow& visit) {
  visit({child, above, share});
  visit({above, child, share});
}

void all_reduce(const Seating& seating, const VisitFlow& visit) {
  const size_t count = seating.is_even ? seating.on_node[0].size() : 1;
  const double share = 1.0 / static_cast<double>(count);
  for (size_t channel = 0; channel < count; ++channel) {
    std::vector<int> heads;
    for (const std::vector<int>& here : seating.on_node) {
      heads.push_back(here[channel % here.size()]);
      for (size_t i = 1; i < here.size(); ++i) {
        up_and_down(
            here[(channel + i) % here.size()], here[(channel + i - 1) % here.size()], share, visit);
      }
    }
    double_tree_flows(heads, share, visit);
  }
}

}  // namespace

int tree_depth(int size) {
  return std::bit_width(static_cast<unsigned>(size - 1));
}

std::vector<int> from_root(const Seating& seating, int root) {
  std::vector<int> order;
  for (int i = 0; i < seating.num_nodes(); ++i) {
    const int node = (seating.node[root] + i) % seating.num_nodes();
    order.insert(order.end(), seating.on_node[node].begin(), seating.on_node[node].end());
  }
  std::rotate(order.begin(),
              order.begin() + seating.place[root],
              order.begin() + std::ssize(seating.on_node[seating.node[root]]));
  return order;
}

void double_tree_flows(const std::vector<int>& heads, double share, const VisitFlow& visit) {
  const auto size = static_cast<int>(heads.size());
  for (int i = 1; i < size; ++i) {
    const int above = parent(i, size);
    up_and_down(heads[i], heads[above], share / 2, visit);
    up_and_down(
        heads[number_in_second(i, size)], heads[number_in_second(above, size)], share / 2, visit);
  }
}

void binomial_flows(const std::vector<int>& order, double share, const VisitFlow& visit) {
  for (int i = 1; i < std::ssize(order); ++i) {
    visit({order[i & (i - 1)], order[i], share});
  }
}

void tree_flows(const Collective& collective, const Seating& seating, const VisitFlow& visit) {
  if (collective.operation == CollectiveOperation::kBroadcast) {
    binomial_flows(from_root(seating, collective.root), 1, visit);
  } else {
    all_reduce(seating, visit);
  }
}

}  // namespace moesim
