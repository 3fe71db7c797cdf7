#pragma once

#include <string>
#include <vector>

#include "sim/base/hash.h"
#include "sim/io/cluster.h"

namespace moesim {

// The files that a cluster's nodes were imported from, in order; its own is not among them.
std::vector<std::string> imported_files(const Cluster& cluster);

// Adds what was read from them to a hash of inputs: nothing for a cluster without.
void add_imported(const Cluster& cluster, Hash& hash);

}  // namespace moesim
