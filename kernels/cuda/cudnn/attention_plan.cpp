#include "kernels/cuda/cudnn/attention_plan.h"

#include <utility>

#include "kernels/cuda/device_pointer.h"

namespace moesim {
namespace {

CudnnDescriptor load(const CudnnFunctions& cudnn,
                     const CudnnDescriptor& kernel,
                     const CudnnDescriptor& device) {
  CudnnDescriptor plan(cudnn, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, kernel);
  plan.set(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, device);
  plan.finalize();
  return plan;
}

}  // namespace

CudnnDescriptor cudnn_device(const CudnnFunctions& cudnn, cudnnHandle_t handle) {
  CudnnDescriptor device(cudnn, CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
  device.set(CUDNN_ATTR_DEVICEPROP_HANDLE, handle);
  device.finalize();
  return device;
}

CudnnDescriptor cudnn_device(const CudnnFunctions& cudnn, const std::string& json) {
  CudnnDescriptor device(cudnn, CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
  device.set(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, json);
  device.finalize();
  return device;
}

std::vector<CudnnDescriptor> kernels_for(const CudnnFunctions& cudnn,
                                         const CudnnGraph& graph,
                                         const CudnnDescriptor& device) {
  const CudnnDescriptor heuristic(cudnn, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  heuristic.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph.whole);
  heuristic.set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_HEUR_MODE_A);
  heuristic.set(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, device);
  heuristic.finalize();
  const int64_t most =
      heuristic.count(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR);
  return heuristic.descriptors(
      CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, most);
}

LoadedKernel load_kernel(const CudnnFunctions& cudnn,
                         const CudnnGraph& graph,
                         const CudnnDescriptor& device) {
  for (CudnnDescriptor& kernel : kernels_for(cudnn, graph, device)) {
    try {
      CudnnDescriptor plan = load(cudnn, kernel, device);
      return {std::move(kernel), std::move(plan)};
    } catch (const CudnnRefusal&) {
      continue;  // not this one
    }
  }
  throw CudnnRefusal("cuDNN has no kernel for this attention");
}

AttentionPlan::AttentionPlan(const CudnnFunctions& cudnn,
                             CudnnGraph graph,
                             const CudnnDescriptor& device)
    : cudnn_(&cudnn),
      graph_(std::move(graph)),
      kernel_(load_kernel(cudnn, graph_, device)),
      workspace_bytes_(kernel_.plan.number(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE)) {}

void AttentionPlan::launch(cudnnHandle_t handle,
                           const std::vector<Binding>& bindings,
                           DeviceAddress workspace) const {
  std::vector<int64_t> ids;
  std::vector<void*> pointers;
  for (const Binding& binding : bindings) {
    ids.push_back(static_cast<int64_t>(binding.tensor));
    pointers.push_back(device_pointer(binding.address));
  }
  std::vector<GraphScalar> scalars = graph_.scalars;
  for (GraphScalar& scalar : scalars) {
    ids.push_back(scalar.id);
    pointers.push_back(&scalar.bits);
  }
  const CudnnDescriptor pack(*cudnn_, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, ids);
  pack.set_pointers(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, pointers);
  pack.set_pointers(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, std::vector{device_pointer(workspace)});
  pack.finalize();
  check_cudnn(
      *cudnn_, cudnn_->execute(handle, kernel_.plan.get(), pack.get()), "cudnnBackendExecute");
}

}  // namespace moesim
