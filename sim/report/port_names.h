#pragma once

#include <array>
#include <string_view>

#include "sim/collective/collective_cost.h"

namespace moesim {

// By Port.
inline constexpr std::array<std::string_view, kNumPorts> kPortNames = {
    "intra-node out", "intra-node in", "inter-node out", "inter-node in"};

}  // namespace moesim
