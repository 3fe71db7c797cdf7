#pragma once

#include "sim/cli/options.h"

namespace moesim {

// Which options belong together: throws Error for a combination that makes no sense.
void check_usage(const Command& command);

}  // namespace moesim
