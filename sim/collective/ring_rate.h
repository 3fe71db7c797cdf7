#pragma once

#include "sim/collective/layout.h"
#include "sim/io/cluster.h"
#include "sim/io/program.h"

namespace moesim {

// Bytes a second at which a ring alone goes over a cluster's links: those that pass a member's wire
// (wire_share) over the seconds that they occupy the fullest link. Of a layout on several nodes the
// ring over two of them, neighbours: more nodes have the same edges. Of the first, the middle and
// the last neighbours the fastest: one slow NIC is a slow link, and no slow machine. Latencies do
// not count. Zero where nothing is known: without links, where nodes have fewer GPUs than that, and
// for the operations that no ring carries out (ALL_TO_ALL, SHIFT).
double ring_rate(const Cluster& cluster, CollectiveOperation operation, const Layout& layout);

// The least seconds for each byte that a cluster's links, or ports without them, need for a
// collective alone on the first GPUs of its first nodes: by DIRECT, RING, or where NVSwitches join
// the GPUs IN_SWITCH. Zero where nothing is known: the cluster is smaller, or the layout has more
// than 1,024 ranks.
double least_seconds_per_byte(const Cluster& cluster,
                              CollectiveOperation operation,
                              const Layout& layout);

}  // namespace moesim
