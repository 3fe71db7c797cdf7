#pragma once

#include <vector>

#include "sim/io/scenario.h"

namespace moesim {

// A capacity domain: the rows that one gate reads, and how many consecutive ranks read the same.
struct RoutingDomain {
  int rows = 0;
  int ranks_per_domain = 1;
};

// tokens[source rank][expert] of a scenario: how many of its k * rows choices each rank sends to
// each expert, none above `rows` (a token goes to an expert once). Zipf: expert popularity 1/i^s in
// an order shuffled by the seed, the same for all ranks; every token draws its k experts by
// popularity. Given: the scenario's matrix, scaled to the domain. Empty when balanced.
std::vector<std::vector<int>> make_routing(const Scenario& scenario, const RoutingDomain& domain);

// The largest count of any rank and expert: the nominal rows of a buffer without capacity.
int largest_count(const std::vector<std::vector<int>>& tokens);

}  // namespace moesim
