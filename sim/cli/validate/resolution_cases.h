#pragma once

#include <string>
#include <vector>

#include "sim/base/random.h"
#include "sim/io/inputs.h"
#include "sim/io/program.h"

namespace moesim::validation {

// A Program on a cluster, to be simulated in every resolution.
struct ResolutionCase {
  std::string name;
  Cluster cluster;
  Profile profile;
  Program program;
};

// One collective, several alike, two that differ, and whole iterations under `fsmoe`: 64 to 256
// ranks at a single switch, on three-level fat trees with oversubscription and rails, and on a
// dragonfly, with NICs at full and one at half rate. `quickstart` gives model and costs.
std::vector<ResolutionCase> resolution_cases(const Inputs& quickstart);

// An AlltoAll over ep beside an AllReduce over dp on 64 ranks with one slow NIC. Rank r of the case
// that is numbered plainly is new_ranks[r] here, in groups and cluster alike; a group's members
// keep their order.
inline constexpr int kRenumberedRanks = 64;
ResolutionCase renumbered_case(const std::vector<int>& new_ranks);

// New numbers for its ranks: nodes at one leaf change places, and so do the GPUs of all nodes.
std::vector<int> random_numbers(Random& random);

// Two to six collectives on up to three streams of 8 to 32 ranks; every other time one NIC is slow.
ResolutionCase random_resolution_case(Random& random);

}  // namespace moesim::validation
