#pragma once

#include <string>

#include "kernels/host/host_script.h"
#include "kernels/host/transport.h"

namespace moesim {

// Why a run that stands still cannot go on: collectives that some members came to and others not.
std::string describe_hang(const Program& program,
                          const HostScript& script,
                          const Attendance& arrived);

}  // namespace moesim
