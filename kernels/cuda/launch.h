#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

#include "kernels/device/device_step.h"

namespace moesim {

// The launches of our own kernels: launch.cu, which nvcc compiles (what only probes launch is in
// probes/probe_kernels.h). Tests link bodies for the host in its place.
cudaError_t launch_kernel(const Kernel& kernel, cudaStream_t stream);

// Does nothing for so long, on one thread.
cudaError_t launch_spin(int64_t nanoseconds, cudaStream_t stream);

}  // namespace moesim
