#pragma once

#include <array>

namespace moesim {

// A GPU's ports: one into its node and one between nodes, each way.
enum class Port { kIntraOut, kIntraIn, kInterOut, kInterIn };
inline constexpr int kNumPorts = 4;

// Bytes of a collective by port.
using PortBytes = std::array<double, kNumPorts>;

}  // namespace moesim
