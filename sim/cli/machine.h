#pragma once

#include <string>

#include "sim/cli/run_size.h"

namespace moesim {

// "Linux 6.1.0 x86_64, 2 cores (AMD EPYC), 15.6 GiB of memory"
std::string machine_text();

// "AMD EPYC"; empty where the system does not say.
std::string processor_name();

// What one core does on a matrix product and on a copy that fit into its cache. Takes some
// milliseconds.
MachineSpeed measured_speed();

}  // namespace moesim
