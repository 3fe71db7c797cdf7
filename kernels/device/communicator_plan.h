#pragma once

#include <vector>

#include "sim/io/program.h"
#include "sim/program/group_table.h"

namespace moesim {

// The collectives of one group on one stream: a communicator in every instance of the group.
struct CommunicatorKey {
  int group = 0;
  int stream = 0;

  friend auto operator<=>(const CommunicatorKey&, const CommunicatorKey&) = default;
};

// What a rank says when the communicator is split off the world's.
struct CommunicatorSeat {
  int color = kNone;  // the instance; kNone: outside, or alone
  int member = kNone;
};

// Those that the Program needs, in order of first use, which is the same on all ranks: all take
// part in making each, those outside it too. A group whose instances have one member each needs
// none.
std::vector<CommunicatorKey> plan_communicators(const Program& program);

CommunicatorSeat seat_in(const Program& program,
                         const GroupTable& groups,
                         const CommunicatorKey& key,
                         int rank);

}  // namespace moesim
