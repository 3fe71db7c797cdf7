#pragma once

#include <CLI/App.hpp>

#include "kernels/execute/options.h"

namespace moesim {

// The options of --backend cuda.
void add_gpu(CLI::App& app, RunOptions& options);

// Throws Error for options that do not go together.
void check_gpu(const CLI::App& app, const RunOptions& options);

}  // namespace moesim
