#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/cuda/copy_carrier.h"
#include "kernels/cuda/cuda_options.h"
#include "kernels/cuda/device_facts.h"
#include "kernels/cuda/iteration.h"
#include "kernels/cuda/loaded_program.h"
#include "kernels/executor.h"

namespace moesim {

// Runs all ranks of a Program on one GPU, as logical ranks: each stream of each rank is a CUDA
// stream, waits are events, collectives are copies within the device's memory. One thread issues
// all tasks, in the order of kernels/device/issue_order.h.
class CudaExecutor : public Executor {
 public:
  // Keeps a reference to the Program, which the verifier has accepted. Throws Failure where there
  // is no device, too little memory on it or a wrong number of hardware queues, CudaError where
  // CUDA fails, Hang where collectives never begin because members do not come to them, and Error
  // where make_operation does and for graphs of Programs with host waits.
  CudaExecutor(const Program& program, const CudaOptions& options);

  // `tensors` must hold all ranks. Throws CudaError.
  Execution run(TensorStore& tensors) override;

  const DeviceFacts& device() const { return facts_; }

 private:
  void make_graph(const TensorStore& tensors);
  std::vector<std::string> assumptions() const;

  CudaOptions options_;
  DeviceFacts facts_;
  std::unique_ptr<FusedAttentionEngine> attention_;  // null: nothing is fused
  LoadedProgram program_;
  StepLauncher launcher_;
  TaskStreams streams_;
  EventTable events_;
  CopyCarrier carrier_;
  Iteration iteration_;
  ExecutableGraph graph_;  // null before the first run, and where tasks are launched one by one
};

}  // namespace moesim
