#pragma once

#include <vector>

#include "kernels/device/device_step.h"
#include "kernels/device/lowering_space.h"
#include "kernels/moves.h"

namespace moesim {

// A plan of moves among ranks whose memory one device reaches.
struct MoveSite {
  const MovePlan* plan = nullptr;
  std::vector<int> ranks;  // by member
  int stream = kNone;      // whose scratch memory the members have
  ElementType scratch_type = ElementType::kFloat32;
};

// Where a row of the plan stands.
Elements row_address(const MoveSite& site, const RowAddress& row, LoweringSpace& space);

// What comes before the plan's first step on a member, and its part of a step: the moves to its own
// memory. kNone: all members at once. A step ends on all members before the next one begins on any,
// and the last one before any goes on: they read each other's rows and sums.
std::vector<DeviceStep> lower_clears(const MoveSite& site, int member, LoweringSpace& space);
std::vector<DeviceStep> lower_moves(const MoveSite& site,
                                    int step,
                                    int member,
                                    LoweringSpace& space);

}  // namespace moesim
