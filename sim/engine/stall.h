#pragma once

#include <string>

#include "sim/engine/machine.h"
#include "sim/engine/workload.h"
#include "sim/io/program.h"

namespace moesim {

// Why a machine is idle before its slots are finished: the collectives that wait, and for each the
// ranks that never join it. (On one rank every task waits for earlier ones only, so the first
// unfinished one is a collective that has begun to wait.)
std::string describe_stall(const Program& program,
                           const Workload& workload,
                           const Machine& machine);

}  // namespace moesim
