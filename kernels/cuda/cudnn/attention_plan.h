#pragma once

#include <cstdint>
#include <vector>

#include "kernels/cuda/cudnn/attention_graph.h"

namespace moesim {

// A device that kernels are chosen for: the handle's; or, where there is none, one that cuDNN's
// JSON describes.
CudnnDescriptor cudnn_device(const CudnnFunctions& cudnn, cudnnHandle_t handle);
CudnnDescriptor cudnn_device(const CudnnFunctions& cudnn, const std::string& json);

// The kernels that cuDNN has for a graph on a device, the one that it prefers first.
std::vector<CudnnDescriptor> kernels_for(const CudnnFunctions& cudnn,
                                         const CudnnGraph& graph,
                                         const CudnnDescriptor& device);

// A kernel, and what launches it, which refers to it.
struct LoadedKernel {
  CudnnDescriptor kernel;
  CudnnDescriptor plan;
};

// The first one that can be loaded. Throws CudnnRefusal where there is none.
LoadedKernel load_kernel(const CudnnFunctions& cudnn,
                         const CudnnGraph& graph,
                         const CudnnDescriptor& device);

// How one attention is launched.
class AttentionPlan {
 public:
  // Keeps references to the functions and to the device. Throws what load_kernel does.
  AttentionPlan(const CudnnFunctions& cudnn, CudnnGraph graph, const CudnnDescriptor& device);

  int64_t workspace_bytes() const { return workspace_bytes_; }

  struct Binding {
    AttentionTensor tensor{};
    DeviceAddress address = 0;
  };
  // On the handle's stream.
  void launch(cudnnHandle_t handle,
              const std::vector<Binding>& bindings,
              DeviceAddress workspace) const;

 private:
  const CudnnFunctions* cudnn_;
  CudnnGraph graph_;
  LoadedKernel kernel_;
  int64_t workspace_bytes_ = 0;
};

}  // namespace moesim
