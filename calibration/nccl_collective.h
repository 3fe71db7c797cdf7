#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/io/program.h"

namespace moesim {

// A test of nccl-tests and what its numbers mean. The column `size` is max(send, receive buffer) of
// a rank: moesim's bytes per rank of every operation here (all-gather: the output; reduce-scatter:
// the input; all-to-all: the send buffer).
struct NcclCollective {
  std::string_view name;                         // "all_reduce": the binary's name without _perf
  std::optional<CollectiveOperation> operation;  // absent: moesim has none that is the same
  // `count` is of one rank's part: size = count * element * ranks. Otherwise size = count *
  // element.
  bool counts_parts = false;
  // Not so where nccl-tests runs it on one buffer although NCCL does not support that: its sources
  // say "We don't support in-place alltoall", and check no result.
  bool in_place = true;
};

// By name, with or without "_perf"; null for others.
const NcclCollective* find_nccl_collective(std::string_view name);
const NcclCollective& nccl_collective(CollectiveOperation operation);
std::vector<std::string> nccl_collective_names();

// busbw / algbw (nccl-tests, doc/PERFORMANCE.md): 2(n-1)/n for all_reduce; (n-1)/n for all_gather,
// reduce_scatter, alltoall, gather and scatter; 1 for the others. 1 GB is 1e9 bytes.
double busbw_factor(const NcclCollective& collective, int ranks);

}  // namespace moesim
