#include "sim/collective/member_place.h"

#include "sim/base/check.h"
#include "sim/cluster/groups.h"

namespace moesim {
namespace {

Reach reach(const Cluster& cluster, const std::vector<int>& members, int index, int partner) {
  const int size = static_cast<int>(members.size());
  if (partner < 0 || partner >= size || partner == index) {
    return Reach::kNothing;
  }
  const auto node = [&](int member) { return node_of(cluster, members[member]); };
  return node(index) == node(partner) ? Reach::kNode : Reach::kFabric;
}

}  // namespace

Span MemberPlace::span() const {
  if (nodes == 1) {
    return Span::kNode;
  }
  return nodes == size ? Span::kFabric : Span::kBoth;
}

MemberPlace place_on(const Layout& layout) {
  return {.size = layout.size(), .nodes = layout.nodes, .on_node = layout.gpus_per_node};
}

std::vector<MemberPlace> places_of(const Cluster& cluster, const std::vector<int>& members) {
  std::vector<int> on_node(cluster.num_nodes);
  int nodes = 0;
  for (const int rank : members) {
    int& count = on_node[node_of(cluster, rank)];
    nodes += count == 0 ? 1 : 0;
    ++count;
  }
  std::vector<MemberPlace> places;
  places.reserve(members.size());
  for (const int rank : members) {
    places.push_back({.size = static_cast<int>(members.size()),
                      .nodes = nodes,
                      .on_node = on_node[node_of(cluster, rank)]});
  }
  return places;
}

// Groups list neighbours together, so that looking both ways from the member finds them; only
// another order needs a look at everyone.
std::vector<int> peers_on_node(const Cluster& cluster,
                               const std::vector<int>& members,
                               int index,
                               int on_node) {
  const int size = static_cast<int>(members.size());
  const int home = node_of(cluster, members[index]);
  int first = index;
  int last = index;
  while (first > 0 && node_of(cluster, members[first - 1]) == home) {
    --first;
  }
  while (last + 1 < size && node_of(cluster, members[last + 1]) == home) {
    ++last;
  }
  if (last - first + 1 != on_node) {
    first = 0;
    last = size - 1;
  }
  std::vector<int> peers;
  for (int peer = first; peer <= last; ++peer) {
    if (peer != index && node_of(cluster, members[peer]) == home) {
      peers.push_back(peer);
    }
  }
  return peers;
}

MemberPlace shift_place(const Cluster& cluster,
                        const std::vector<int>& members,
                        int index,
                        const Collective& shift,
                        MemberPlace place) {
  CHECK(shift.operation == CollectiveOperation::kShift);
  const int size = static_cast<int>(members.size());
  int to = index + shift.distance % size;
  int from = index - shift.distance % size;
  if (shift.wrap) {
    to = (to + size) % size;
    from = (from + size) % size;
  } else {
    to = index + shift.distance;
    from = index - shift.distance;
  }
  place.sends = reach(cluster, members, index, to);
  place.receives = reach(cluster, members, index, from);
  return place;
}

}  // namespace moesim
