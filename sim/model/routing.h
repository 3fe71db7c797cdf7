#pragma once

#include <vector>

#include "sim/io/scenario.h"

namespace moesim {

// tokens[source rank][expert] of a scenario: how many of its `domain_rows` * k choices each rank
// sends to each expert. Zipf: expert popularity 1/i^s in an order shuffled by the seed, the same
// for all ranks, each rank's counts drawn and summing to domain_rows * k, none above domain_rows.
std::vector<std::vector<int>> make_routing(const Scenario& scenario, int64_t domain_rows);

}  // namespace moesim
