#include "kernels/core/bfloat16.h"
#include "kernels/cuda/probes/probe_kernels.h"

namespace moesim {
namespace {

constexpr int kThreads = 512;
// How often a block that copies looks whether it is to stop: the flag lies in the host's memory.
constexpr int kLook = 16;
constexpr int kInFlight = 4;

__device__ int64_t now() {
  int64_t nanoseconds;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds));
  return nanoseconds;
}

// The host sets the flag when it has measured what runs beside; a host that cannot is not awaited.
__device__ bool is_to_stop(const volatile int* stop, int64_t begin) {
  return *stop != 0 || now() - begin >= kLongestBeside;
}

// Each thread keeps kInFlight loads under way before it stores: with one at a time 512 threads ask
// an SM's memory for 8 KiB in each of its latencies, less than what a collective's block carries.
// `stop`, where there is one, is looked at every kLook rounds; returns whether it says so.
__device__ bool copy_once(const uint4* __restrict__ from,
                          uint4* __restrict__ to,
                          int64_t count,
                          const volatile int* stop,
                          int64_t begin) {
  const int64_t stride = int64_t{gridDim.x} * kThreads;
  int64_t at = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  for (int round = 1; at + (kInFlight - 1) * stride < count; ++round, at += kInFlight * stride) {
    uint4 values[kInFlight];
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      values[i] = from[at + i * stride];
    }
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      to[at + i * stride] = values[i];
    }
    if (stop != nullptr && round % kLook == 0 && is_to_stop(stop, begin)) {
      return true;
    }
  }
  for (; at < count; at += stride) {
    to[at] = from[at];
  }
  return stop == nullptr || is_to_stop(stop, begin);
}

// Again and again where `stop` is given.
__global__ void __launch_bounds__(kThreads)
    copy_blocks(const uint4* from, uint4* to, int64_t count, const volatile int* stop) {
  const int64_t begin = now();
  while (!copy_once(from, to, count, stop, begin)) {
  }
}

// One thread looks, the others wait for it: hundreds of warps that read the host's memory would
// fill the link to it.
__global__ void __launch_bounds__(kThreads) occupy(const volatile int* stop) {
  const int64_t begin = now();
  while (threadIdx.x == 0 && !is_to_stop(stop, begin)) {
    __nanosleep(200);
  }
  __syncthreads();
}

__global__ void do_nothing() {}

// Xorshift of Marsaglia, "Xorshift RNGs", 2003, from a multiplicative hash of the index.
__global__ void __launch_bounds__(kThreads) make_noise(Bfloat16* at, int64_t count, uint32_t seed) {
  const int64_t stride = int64_t{gridDim.x} * kThreads;
  for (int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x; i < count; i += stride) {
    uint32_t bits = static_cast<uint32_t>(i) * 2654435761U ^ seed;
    bits ^= bits << 13U;
    bits ^= bits >> 17U;
    bits ^= bits << 5U;
    at[i] = to_bfloat16(static_cast<float>(bits & 0xFFFFU) / 65536.0F - 0.5F);
  }
}

template <typename Function>
cudaError_t allow_shared_memory(Function* function, int bytes) {
  return cudaFuncSetAttribute(
      reinterpret_cast<const void*>(function), cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
}

}  // namespace

cudaError_t launch_block_copy(const BlockCopy& copy, cudaStream_t stream) {
  const cudaError_t status = allow_shared_memory(copy_blocks, copy.shared_bytes);
  if (status != cudaSuccess) {
    return status;
  }
  copy_blocks<<<copy.blocks, kThreads, static_cast<size_t>(copy.shared_bytes), stream>>>(
      static_cast<const uint4*>(copy.from),
      static_cast<uint4*>(copy.to),
      copy.bytes / static_cast<int64_t>(sizeof(uint4)),
      copy.stop);
  return cudaGetLastError();
}

cudaError_t launch_occupation(const Occupation& occupation, cudaStream_t stream) {
  const cudaError_t status = allow_shared_memory(occupy, occupation.shared_bytes);
  if (status != cudaSuccess) {
    return status;
  }
  occupy<<<occupation.blocks, kThreads, static_cast<size_t>(occupation.shared_bytes), stream>>>(
      occupation.stop);
  return cudaGetLastError();
}

cudaError_t launch_nothing(cudaStream_t stream) {
  do_nothing<<<1, 1, 0, stream>>>();
  return cudaGetLastError();
}

cudaError_t launch_noise(void* at, int64_t count, uint32_t seed, cudaStream_t stream) {
  constexpr int kBlocks = 1024;
  make_noise<<<kBlocks, kThreads, 0, stream>>>(static_cast<Bfloat16*>(at), count, seed);
  return cudaGetLastError();
}

}  // namespace moesim
