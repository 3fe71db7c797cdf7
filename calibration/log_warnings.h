#pragma once

#include <string>
#include <vector>

#include "calibration/nccl_log.h"
#include "sim/io/cluster.h"

namespace moesim {

// What is to be said of logs that may be of another cluster than this one: those that ran on more
// nodes than it has, and each two tests of one collective on one layout of which one took more than
// a tenth longer than the other at a size that both have; of twice as long, that one is to be left
// out.
std::vector<std::string> log_warnings(const Cluster& cluster, const std::vector<NcclLog>& logs);

}  // namespace moesim
