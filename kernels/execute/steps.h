#pragma once

#include <string>

#include "kernels/execute/options.h"
#include "kernels/repeat.h"
#include "kernels/results.h"
#include "sim/io/program.h"

namespace moesim {

// What executing has in common, wherever the ranks run.

inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;    // a hang, too many disturbed runs
inline constexpr int kExitBadInput = 2;  // bad usage or input

// Throws Error for what does not load and what the verifier rejects.
Program load_verified(const RunOptions& options);

// Throws Error where the tensors of so many ranks do not fit into this machine's memory.
void check_memory(const Program& program, int num_ranks, const std::string& path);

HostOptions host_options(const RunOptions& options);

// Whether at least as many runs as asked for were accepted.
bool are_enough(const RunOptions& options, const RepeatedRuns& runs);

// Prints, and writes the files asked for; only says so where the runs are not enough.
void report(const RunOptions& options, const Program& program, const ExecutedRuns& executed);

}  // namespace moesim
