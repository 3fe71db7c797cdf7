#pragma once

#include <vector>

#include "kernels/cuda/cuda_options.h"
#include "kernels/cuda/handles.h"
#include "kernels/device/device_layout.h"
#include "kernels/device/device_program.h"
#include "kernels/tensor_store.h"

namespace moesim {

// Throws Failure, which says what was asked for and what is free, where the current device's memory
// is too small for the Program. Allocates nothing.
void require_device_memory(const DeviceScript& script, const CudaOptions& options);

// A Program in a device's memory: tensors, scratch, tables, and the steps of its tasks.
class LoadedProgram {
 public:
  // On the current device. Throws what require_device_memory does, and Error where make_operation
  // does. `attention`, which is not copied, plans what is fused; null: nothing.
  LoadedProgram(DeviceScript script,
                const CudaOptions& options,
                FusedAttentionPlanner* attention = nullptr);

  const DeviceScript& script() const { return script_; }
  const DeviceProgram& steps() const { return steps_; }
  const DeviceLayout& layout() const { return layout_; }

  // Copies inputs (of a Program that keeps all: everything) to the device, on the stream; what is
  // not copied is as unwritten as in a fresh store. And copies back what is kept. Both return when
  // it is done.
  void upload(const TensorStore& tensors, cudaStream_t stream);
  void download(TensorStore& tensors, cudaStream_t stream);

  // Fills tensors and scratch with zeros, on the stream: finite numbers, and indices that are in
  // range, for steps whose results nobody wants. upload() makes everything unwritten again.
  void clear(cudaStream_t stream);

 private:
  void load();
  void fill(int value, cudaStream_t stream);

  CudaOptions options_;
  FusedAttentionPlanner* attention_;
  DeviceScript script_;
  std::vector<bool> is_kept_;
  DeviceLayout layout_;
  DeviceMemory memory_;
  PinnedMemory staging_;
  DeviceBases bases_;
  DeviceProgram steps_;
};

}  // namespace moesim
