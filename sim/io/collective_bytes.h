#pragma once

#include <cstdint>

#include "sim/io/program.h"

namespace moesim {

// Bytes per rank of a collective task as `Collective::bytes` counts them: what its regions say or,
// without regions, what is given. A side that has no region follows from the other.
int64_t collective_bytes(const Program& program, const Task& task);

}  // namespace moesim
