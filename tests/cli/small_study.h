#pragma once

#include "tests/cli/moesim_runner.h"

namespace moesim {

// Writes a scenario of two layers on 2 nodes x 2 GPUs (study.txtpb, cluster.txtpb, profile.txtpb):
// small enough that every command answers at once.
void write_small_study(const Workspace& workspace);

}  // namespace moesim
