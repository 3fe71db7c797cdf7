#pragma once

#include "sim/cluster/node_graph.h"
#include "sim/io/wiring.h"

namespace moesim {

// The node that a dump describes: NCCL's topology (XML) or what nvidia-smi topo -m prints. What it
// does not say is taken from beside it or inferred, and said in `inferred`. Throws Error, located
// in the dump where that is wrong, without a location where it does not fit what stands beside it.
NodeGraph import_node(const NodeDump& dump, int num_gpus);

}  // namespace moesim
