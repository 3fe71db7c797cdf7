#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

namespace moesim {

// The launches of kernels that only probes need: probe_kernels.cu; tests link bodies for the host.

// After so long, in ns, a kernel that is to be stopped ends by itself: what the host launched
// behind it may wait for it, and would for ever. Chosen, not measured: a thousand times as long as
// the GEMM beside it takes.
inline constexpr int64_t kLongestBeside = 5'000'000'000;

// Copies bytes (a multiple of 16) by so many blocks; with `stop`, again and again until *stop is
// not 0, or kLongestBeside is over. `shared_bytes` of shared memory a block: enough of it keeps
// others off its SM.
struct BlockCopy {
  const void* from = nullptr;
  void* to = nullptr;
  int64_t bytes = 0;
  int blocks = 1;
  int shared_bytes = 0;
  const int* stop = nullptr;
};
cudaError_t launch_block_copy(const BlockCopy& copy, cudaStream_t stream);

// Does nothing on so many blocks until *stop is not 0, or kLongestBeside is over.
struct Occupation {
  int blocks = 1;
  int shared_bytes = 0;
  const int* stop = nullptr;
};
cudaError_t launch_occupation(const Occupation& occupation, cudaStream_t stream);

// For so long, in ns, a probe's stream does nothing (launch_spin), in which the host launches all
// that is timed behind it: some forty kernels, or a collective of NCCL. What is timed then does not
// have the host's time in it. Chosen, not measured: forty launches of some 5 us each, and half as
// much again. Where it is too short, the host's time shows in the readings of short probes.
inline constexpr int64_t kHoldNanoseconds = 300'000;

cudaError_t launch_nothing(cudaStream_t stream);

// Fills BF16 elements with small numbers of either sign that no two probes' seeds share: a GPU
// needs less power, and is faster, where all bits are equal.
cudaError_t launch_noise(void* at, int64_t count, uint32_t seed, cudaStream_t stream);

}  // namespace moesim
