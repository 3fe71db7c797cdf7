#pragma once

#include <string>
#include <vector>

#include "sim/io/cluster.h"
#include "sim/io/profile.h"

namespace moesim {

// States in a profile the rates of the cluster that it was measured on, so that on a cluster with
// others transfers are scaled: those of its ports, and of each ring, what it alone has over the
// links of its layout (ring_rate.h).
void state_rates(const Cluster& cluster, Profile& profile);

// Of each table of a profile, what is to be said where it was faster than the cluster's links
// allow, or takes less than a quarter of them although its largest size is mostly transfer: then
// the cluster may not be the one that was measured.
std::vector<std::string> rate_warnings(const Cluster& cluster, const Profile& profile);

}  // namespace moesim
