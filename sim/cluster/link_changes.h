#pragma once

#include <vector>

#include "sim/cluster/topology.h"
#include "sim/io/wiring.h"

namespace moesim {

// Makes links slower, or removes them, one change after the other. Throws Error, located at the
// change, where it names no link.
void apply_changes(const std::vector<LinkChange>& changes, Topology& topology);

}  // namespace moesim
