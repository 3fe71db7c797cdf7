#include <variant>

#include "kernels/cuda/launch.h"

namespace moesim {
namespace {

template <typename Body>
__global__ void __launch_bounds__(Body::kThreads) run_blocks(const Body body) {
  __shared__ typename Body::Scratch scratch;
  body.run(static_cast<int>(blockIdx.x), scratch);
}

__global__ void spin(int64_t nanoseconds) {
  const auto now = [] {
    int64_t time;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
    return time;
  };
  const int64_t begin = now();
  while (now() - begin < nanoseconds) {
  }
}

}  // namespace

cudaError_t launch_kernel(const Kernel& kernel, cudaStream_t stream) {
  std::visit(
      [&](const auto& body) {
        using Body = std::decay_t<decltype(body)>;
        run_blocks<Body><<<static_cast<unsigned>(kernel.blocks), Body::kThreads, 0, stream>>>(body);
      },
      kernel.body);
  return cudaGetLastError();
}

cudaError_t launch_spin(int64_t nanoseconds, cudaStream_t stream) {
  spin<<<1, 1, 0, stream>>>(nanoseconds);
  return cudaGetLastError();
}

}  // namespace moesim
