#pragma once

#include <memory>

#include "kernels/cuda/device_facts.h"
#include "kernels/cuda/handles.h"
#include "kernels/cuda/probes/gpu_clock.h"
#include "kernels/cuda/product_plan.h"
#include "kernels/probe/probe_device.h"

namespace moesim {

// Who times collectives: NCCL, where it is part of the build.
class CollectiveProbes {
 public:
  virtual ~CollectiveProbes() = default;
  virtual std::function<Time()> prepare(const GpuProbe& probe) = 0;
};

// Times probes on one GPU, by CUDA events where a device does the work and by the host's clock for
// launches. Nothing is synchronised between what is timed together.
class CudaProbeDevice : public ProbeDevice {
 public:
  // On the current device. `collectives` may be null; it is referred to.
  CudaProbeDevice(const DeviceFacts& facts, CollectiveProbes* collectives);

  std::function<Time()> prepare(const GpuProbe& probe) override;
  std::optional<double> clock_hertz() override { return clock_.hertz(); }

 private:
  std::function<Time()> prepare_gemm(const GpuProbe& probe);
  std::function<Time()> prepare_gemm_beside(const GpuProbe& probe);
  std::function<Time()> prepare_late_copy(const GpuProbe& probe);
  std::function<Time()> prepare_queues(const GpuProbe& probe);
  std::function<Time()> prepare_copy(const GpuProbe& probe);
  std::function<Time()> prepare_launch(const GpuProbe& probe);

  // From begin_ to end_, when both are over.
  Time elapsed() const;
  // Has the stream do nothing while the host launches what is timed behind it.
  void hold(const Stream& stream) const;
  void record(const Event& event, const Stream& stream) const;

  DeviceFacts facts_;
  GpuClock clock_;
  CollectiveProbes* collectives_;
  CublasHandle<cublasLtHandle_t> cublas_;
  Stream main_;
  Stream beside_;  // of the highest priority
  Stream other_;   // of the lowest, as main_
  Event begin_;
  Event end_;
  DeviceMemory workspace_;
  DeviceMemory scratch_;  // what copies beside a GEMM copy, and what empties the L2 cache
  PinnedMemory stop_;     // an int that the device reads
};

}  // namespace moesim
