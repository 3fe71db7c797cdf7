#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/cuda/copy_carrier.h"
#include "kernels/cuda/cuda_options.h"
#include "kernels/cuda/device_facts.h"
#include "kernels/cuda/iteration.h"
#include "kernels/cuda/loaded_program.h"
#include "kernels/cuda/step_timer.h"
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

  // One iteration whose steps run one behind the other, each alone, on one stream, in the order
  // that they are issued in: the same results, and what each takes when nothing else runs. Fixed
  // tasks have no steps. Throws CudaError.
  std::vector<KernelTime> time_kernels(TensorStore& tensors);

  const DeviceFacts& device() const { return facts_; }

 private:
  void make_graph(const TensorStore& tensors);
  void run_alone(const Issue& issue, StepTimer& timer) const;
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
