#pragma once

#include "sim/io/internal/fields.h"
#include "sim/io/wiring.h"

namespace moesim::io {

// The nodes, fabric, transfers and changes of a cluster of so many nodes; dumps of other tools are
// opened and left as text.
Wiring read_wiring(const Fields& cluster, int num_nodes);

}  // namespace moesim::io
