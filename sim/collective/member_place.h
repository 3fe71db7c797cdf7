#pragma once

#include <vector>

#include "sim/collective/layout.h"
#include "sim/io/cluster.h"
#include "sim/io/profile.h"

namespace moesim {

// What a message to or from another member crosses.
enum class Reach { kNothing, kNode, kFabric };

// Where one member of a group instance stands: all that its load depends on besides the collective
// itself, as long as every row is valid. Members in equal places have equal loads.
struct MemberPlace {
  int size = 1;                      // members of the instance
  int nodes = 1;                     // that they sit on
  int on_node = 1;                   // of them on this member's node, itself included
  Reach sends = Reach::kNothing;     // of a SHIFT: what the message that it sends crosses,
  Reach receives = Reach::kNothing;  // and the one that it receives

  Span span() const;

  friend auto operator<=>(const MemberPlace&, const MemberPlace&) = default;
};

// The place of every member of a group on such a layout.
MemberPlace place_on(const Layout& layout);

// The places of all members, in group order.
std::vector<MemberPlace> places_of(const Cluster& cluster, const std::vector<int>& members);

// The other members on members[index]'s node, `on_node` with itself, as indices, ascending.
std::vector<int> peers_on_node(const Cluster& cluster,
                               const std::vector<int>& members,
                               int index,
                               int on_node);

// The place of members[index] in a SHIFT: it sends to index + distance and receives from
// index - distance. Past the end a member wraps around or, without `wrap`, has no partner.
MemberPlace shift_place(const Cluster& cluster,
                        const std::vector<int>& members,
                        int index,
                        const Collective& shift,
                        MemberPlace place);

}  // namespace moesim
