#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/gpu/gpu.h"

namespace moesim {

class CollectiveProbes;

// What the CUDA backend does with NCCL, which a build may lack (with_nccl.cpp, without_nccl.cpp).
bool has_nccl();
std::string nccl_text();  // "NCCL 2.28.9"

// Throws Error without NCCL, and where there are fewer devices than ranks.
std::unique_ptr<Executor> make_nccl_executor(const Program& program, const GpuRanks& ranks);

// Throws Error without NCCL.
MakeRankExecutor nccl_rank_maker(const GpuRanks& ranks, const PlaceHere& here);

// Null without NCCL.
std::unique_ptr<CollectiveProbes> make_collective_probes(std::vector<int> devices);

}  // namespace moesim
