#pragma once

#include <string>

#include "sim/io/cluster.h"
#include "sim/io/profile.h"

namespace moesim {

// Of a GPU's port on one level: within a node or between nodes. Rates of 0 are not stated.
const PortRate& port_rate(const Cluster& cluster, Span level);

// The same, for bytes that the profile has no figure for. Throws Error, which names the collective
// ("ALL_TO_ALL between nodes"), where the cluster states no rate either.
const PortRate& stated_port_rate(const Cluster& cluster,
                                 Span level,
                                 const Profile& profile,
                                 const std::string& collective);

}  // namespace moesim
