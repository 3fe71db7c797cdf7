#pragma once

#include "sim/collective/flows.h"

namespace moesim {

// NVLink SHARP, NCCL's NVLS: NVSwitches add what they read from the g members of a node, and
// multicast what one of them writes, to itself too. Each member has its g-th of the bytes reduced
// and multicasts it:
//   ALL_REDUCE      1 + 1/g out (read by the switch, then its own part) and 1/g + 1 in
//   REDUCE_SCATTER  1 out, 1/g in
//   ALL_GATHER      1/g out, 1 in
//   BROADCAST       1 out of one member, 1 into each
// against 2(g-1)/g of a ring. (NVIDIA, "The NVLink-network switch", Hot Chips 34: N + 1 where
// others move 2N; so NCCL's maintainers in nccl-tests issue 212.)
//
// Between the nodes, at the same time: ALL_REDUCE by the double trees (NCCL's NVLSTree),
// ALL_GATHER and REDUCE_SCATTER by rings, of 1/g over the members of each place; with unequal
// numbers on the nodes over their first members alone, with all of the bytes. BROADCAST by a
// binomial tree of one member of each node.
void in_switch_flows(const Collective& collective, const Seating& seating, const VisitFlow& visit);

}  // namespace moesim
