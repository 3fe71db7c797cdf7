#pragma once

#include <string>

#include "sim/io/cluster.h"
#include "sim/io/profile.h"

namespace moesim {

// What is to be said where a profile's costs of computing are of another GPU than the cluster's;
// empty where they are of this one, one of the two does not say, or the profile has none.
std::string gpu_mismatch(const Profile& profile, const Cluster& cluster);

}  // namespace moesim
