#pragma once

#include <string>
#include <vector>

#include "sim/io/cluster.h"

namespace moesim {

// The files that a cluster's nodes were imported from, in order; its own is not among them.
std::vector<std::string> imported_files(const Cluster& cluster);

}  // namespace moesim
