#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/io/cluster.h"
#include "sim/io/internal/fields.h"
#include "sim/io/scenario.h"

namespace moesim::io {

// The `jitter` of a Program or of a scenario's variation; without a seed of its own, with `seed`.
// Nothing where it is absent or its deviation is 0.
std::optional<Jitter> read_jitter(const Fields& fields, std::uint64_t seed);

// A Program's `rank_speed`: empty, or a factor for each rank.
std::vector<double> read_rank_speed(const Fields& root, int num_ranks);

// A scenario's `variation`, whose GPUs are those of the cluster.
VariationConfig read_variation(const Fields& root, const Cluster& cluster, std::uint64_t seed);

}  // namespace moesim::io
