#pragma once

#include "kernels/cuda/handles.h"
#include "kernels/cuda/product_plan.h"
#include "sim/io/gpu_check.h"

namespace moesim {

// The product of a probe: matrices of BF16 with noise in them, and cuBLASLt's plan for it.
class ProbeGemm {
 public:
  // Fills the matrices on the stream.
  ProbeGemm(cublasLtHandle_t cublas, const GpuProbe& probe, cudaStream_t stream);

  void run(void* workspace, cudaStream_t stream) const { plan_.run(product_, workspace, stream); }

 private:
  DeviceMemory left_;
  DeviceMemory right_;
  DeviceMemory target_;
  Product product_;
  ProductPlan plan_;
};

}  // namespace moesim
