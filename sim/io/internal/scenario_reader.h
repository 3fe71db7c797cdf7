#pragma once

#include <string>
#include <vector>

#include "sim/io/cluster.h"
#include "sim/io/internal/fields.h"
#include "sim/io/scenario.h"

namespace moesim::io {

// Reads a scenario whose ranks are the GPUs of the cluster; paths are left to the caller. Throws
// Error where values contradict each other, the model or the cluster, or where a schedule is not
// among `known_schedules` (empty: all are).
Scenario read_scenario(const Fields& root,
                       const Cluster& cluster,
                       const std::vector<std::string>& known_schedules);

// Group sizes of a scenario: one of mp, dp and one of esp, ep, edp may follow from the others; pp
// is 1 when absent.
ParallelConfig read_parallel(const Fields& root, const Cluster& cluster);

// Throws Error where the model does not divide among its groups, stages and micro-batches, or is
// too large to compute with.
void check_model(const Fields& root, const Scenario& scenario);

}  // namespace moesim::io
