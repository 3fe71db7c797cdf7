#pragma once

#include "sim/cli/options.h"

namespace moesim {

// Each throws Error where an option was given that would have no effect, or a value that none has.
// Options count as given also with their defaults.
void check_backend(const BackendOptions& backend);
void check_backend(const ExecuteOptions& options);
void check_backend(const CalibrateOptions& options);  // from probes or from logs

}  // namespace moesim
