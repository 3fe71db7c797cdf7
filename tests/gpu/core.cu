// Every kernel of kernels/device in device code, so that nvcc compiles it: one for each of the
// argument structs that a DeviceStep may hold. Never run: what they compute is tested on the host,
// from the same source. What the compiler says of them goes into docs/performance.md.
#include <variant>

#include "kernels/device/device_step.h"

namespace moesim {

template <typename Body>
__global__ void __launch_bounds__(Body::kThreads) run_blocks(Body body) {
  __shared__ typename Body::Scratch scratch;
  body.run(static_cast<int>(blockIdx.x), scratch);
}

// Device code of kernels that nothing launches would be left out.
void launch(const Kernel& kernel) {
  std::visit(
      [&](const auto& body) {
        using Body = std::decay_t<decltype(body)>;
        run_blocks<<<static_cast<unsigned>(kernel.blocks), Body::kThreads>>>(body);
      },
      kernel.body);
}

}  // namespace moesim
