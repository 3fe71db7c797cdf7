#pragma once

#include "kernels/stopping.h"
#include "sim/cli/options.h"

namespace moesim {

// Runs before those that count.
inline constexpr int kNumWarmups = 1;

// What the options say of how often a Program is run.
StoppingRule stopping_rule(const BackendOptions& options);

}  // namespace moesim
