#include "kernels/cuda/probes/probe_gemm.h"

#include "kernels/cuda/device_pointer.h"
#include "kernels/cuda/probes/probe_kernels.h"

namespace moesim {
namespace {

constexpr int64_t kElement = 2;

Elements elements(const DeviceMemory& memory) {
  return {device_address(memory.get()), ElementType::kBfloat16};
}

}  // namespace

// Weights stand columns x depth, as experts have them.
ProbeGemm::ProbeGemm(cublasLtHandle_t cublas, const GpuProbe& probe, cudaStream_t stream)
    : left_(make_device_memory(kElement * probe.rows * probe.depth)),
      right_(make_device_memory(kElement * probe.columns * probe.depth)),
      target_(make_device_memory(kElement * probe.rows * probe.columns)),
      product_{.left = {elements(left_), probe.rows, probe.depth, probe.depth, false},
               .right = {elements(right_), probe.depth, probe.columns, probe.depth, true},
               .target = elements(target_),
               .target_stride = probe.columns},
      plan_(cublas, ProductShape(product_), probe.sms) {
  check_cuda(launch_noise(left_.get(), probe.rows * probe.depth, 1, stream), "launch_noise");
  check_cuda(launch_noise(right_.get(), probe.columns * probe.depth, 2, stream), "launch_noise");
}

}  // namespace moesim
