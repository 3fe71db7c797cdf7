#pragma once

#include <string>

#include "kernels/execute/options.h"
#include "kernels/repeat.h"
#include "kernels/tensor_store.h"
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

// A line for each buffer of the store, in the Program's order of tensors: hash, rank, tensor.
std::string results_to_text(const TensorStore& tensors);

struct Outcome {
  RepeatedRuns runs;
  std::string results;  // of the last run, a line for each buffer
};

// Whether at least as many runs as asked for were accepted.
bool are_enough(const RunOptions& options, const RepeatedRuns& runs);

// Prints, and writes the files asked for; only says so where the runs are not enough.
void report(const RunOptions& options, const Program& program, const Outcome& outcome);

}  // namespace moesim
