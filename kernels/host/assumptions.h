#pragma once

#include <string>
#include <vector>

#include "kernels/host/host_options.h"

namespace moesim {

// What the times of a run rest on; `network` says it of collectives.
std::vector<std::string> describe_host(const HostOptions& options,
                                       const std::string& network,
                                       bool has_real_time);

}  // namespace moesim
