#pragma once

#include "sim/collective/layout_model.h"
#include "sim/io/algorithm.h"
#include "sim/io/cluster.h"
#include "sim/io/profile.h"

namespace moesim {

// One collective by an algorithm, over the first GPUs of the first nodes of a cluster.
struct AlgorithmQuestion {
  CollectiveOperation operation = CollectiveOperation::kAllReduce;
  Algorithm algorithm = Algorithm::kDefault;
  Layout layout;
};

// What it takes alone, as simulated: what the profile has measured with the algorithm, else its
// start-ups and what the cluster's links or ports take. The interval is in proportion that of what
// the profile says of the algorithm there (LayoutModel), if it says something. Throws Error where
// the cluster is smaller than the layout or the algorithm does not fit.
LayoutEstimate estimate_by_algorithm(const AlgorithmQuestion& question,
                                     const Cluster& cluster,
                                     const Profile& profile,
                                     std::int64_t bytes);

}  // namespace moesim
