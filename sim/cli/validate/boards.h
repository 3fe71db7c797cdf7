#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "sim/io/inputs.h"

namespace moesim::validation {

// The collectives that FSMoE measures: ALL_TO_ALL over ep, ALL_REDUCE over dp, ALL_GATHER and
// REDUCE_SCATTER over esp.
inline constexpr std::array<CollectiveOperation, 4> kBoardCollectives{
    CollectiveOperation::kAllToAll,
    CollectiveOperation::kAllReduce,
    CollectiveOperation::kAllGather,
    CollectiveOperation::kReduceScatter};
using ByCollective = std::array<double, kBoardCollectives.size()>;  // seconds for each byte

// How the nodes of a testbed may be wired: what its paper does not print.
struct BoardChoice {
  int gpus_per_switch = 0;  // 0: each GPU at a root port
  NicPlacement nic = NicPlacement::kRootPort;
  bool gpudirect = false;
  bool peer_access = false;
};

// "4 GPUs a switch, NIC at the first".
std::string layout_name(const BoardChoice& choice);

struct Board {
  BoardChoice choice;
  Inputs testbed;  // on this board, which is wired
};

// The testbed, whose cluster describes another board, not wired yet.
Board board_of(const Inputs& testbed, const BoardChoice& choice);

// Every layout with and without GPUDirect and peer access: each GPU at a root port; 2, half and all
// GPUs of a node behind a PCIe switch; the NIC at a root port or behind the first switch.
std::vector<Board> boards_of(const Inputs& testbed);

// What the profile says of the collectives, and what the links of a board alone would make of them.
ByCollective measured_of(const Inputs& testbed);
ByCollective by_links(const Board& board);

// The board with the measured times of all its collectives spent on something of their own.
Inputs with_private_bottlenecks(const Board& board);

// With them spent on the part of the node that ALL_TO_ALL and ALL_GATHER both cross and come
// nearest to filling together; nothing where there is none.
struct SharedBottleneck {
  std::string part;
  Inputs testbed;
};
std::optional<SharedBottleneck> with_shared_bottleneck(const Board& board);

// How traffic between nodes and traffic within them get into each other's way.
struct Conflict {
  double fullest = 0;  // use of a link while both transfer, and each as fast as alone: 2 means that
                       // overlapping them gains nothing
  std::string pattern;  // equal for boards that are alike in this; empty where nothing is delayed
  bool alone = false;   // one alone is slower than measured
};
Conflict conflict_on(const Inputs& testbed);

}  // namespace moesim::validation
