#pragma once

#include <map>
#include <vector>

#include "kernels/cuda/fused_attention_engine.h"
#include "kernels/cuda/product_plan.h"
#include "kernels/device/device_program.h"

namespace moesim {

// Where steps are put: a stream, and memory that its products alone use.
struct LaunchPlace {
  cudaStream_t stream = nullptr;
  void* workspace = nullptr;
};

// Launches DeviceSteps. What is known of a step before it runs (cuBLASLt's descriptors and
// algorithms) is prepared once for all of a shape.
class StepLauncher {
 public:
  // `sm_target` as in ProductPlan. `attention`, which is not copied, launches what it planned; null
  // where nothing is fused.
  explicit StepLauncher(int sm_target, FusedAttentionEngine* attention = nullptr);

  // Prepared for all tasks of the program.
  StepLauncher(const DeviceProgram& program, int sm_target, FusedAttentionEngine* attention);

  // Before the first launch of the steps.
  void prepare(const std::vector<DeviceStep>& steps);

  // Puts the steps on the stream, one behind the other. Throws CudaError.
  void launch(const std::vector<DeviceStep>& steps, const LaunchPlace& place) const;
  void launch(const DeviceStep& step, const LaunchPlace& place) const;

 private:
  void launch(const Fill& fill, const LaunchPlace& place) const;
  void launch(const Copy& copy, const LaunchPlace& place) const;
  void launch(const Products& products, const LaunchPlace& place) const;
  void launch(const Kernel& kernel, const LaunchPlace& place) const;
  void launch(const FusedAttention& attention, const LaunchPlace& place) const;
  void launch(const FusedAttentionBackward& attention, const LaunchPlace& place) const;
  FusedAttentionEngine& attention() const;

  CublasHandle<cublasLtHandle_t> cublas_;
  int sm_target_;
  FusedAttentionEngine* attention_;
  std::map<ProductShape, ProductPlan> plans_;
};

// Whether any of the steps needs LaunchPlace::workspace.
bool has_products(const std::vector<DeviceStep>& steps);

}  // namespace moesim
