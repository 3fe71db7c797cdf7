#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/cuda/cuda_options.h"
#include "kernels/cuda/device_facts.h"
#include "kernels/cuda/iteration.h"
#include "kernels/cuda/loaded_program.h"
#include "kernels/cuda/nccl/communicators.h"
#include "kernels/cuda/nccl/nccl_carrier.h"
#include "kernels/cuda/nccl/run_watch.h"
#include "kernels/executor.h"
#include "kernels/host/rank_executor.h"

namespace moesim {

struct NcclOptions {
  CudaOptions cuda{};
  CommunicatorOptions communicators{};
  // AlltoAll of equal parts by ncclAlltoAll (NCCL 2.28) instead of sends and receives.
  bool native_all_to_all = false;
  // DeviceChoice::is_shared: the trace says that its times mean nothing.
  bool device_is_shared = false;
  // How long nothing may change before a rank that only waits says so; the run ends when all do.
  // Chosen, not measured.
  Time patience = Time::from_picoseconds(500'000'000'000);
};

// Runs one rank of a Program on a GPU of its own; its collectives are NCCL's. Every rank makes one,
// in a process or on a thread of its own, and calls connect(), run() and close() as often as the
// others.
class NcclExecutor : public Executor {
 public:
  // Keeps references. Throws what CudaExecutor does, and Error for what it cannot run.
  NcclExecutor(const Program& program, const NcclOptions& options, RankPeers& peers);

  // Has the device load the Program's kernels, and makes the communicators. Throws CudaError,
  // NcclError, and what ended it on another rank.
  void connect();

  // `tensors` holds the rank, others are left alone. On rank 0 the trace has all ranks; on others
  // only their own, but the same end and lateness. After an exception nothing can be run any more.
  Execution run(TensorStore& tensors) override;

  // Gives the communicators back. Without it they are aborted.
  void close();

 private:
  void load_kernels();
  std::vector<std::string> assumptions() const;

  NcclOptions options_;
  RankPeers& peers_;
  DeviceFacts facts_;
  std::unique_ptr<FusedAttentionEngine> attention_;  // null: nothing is fused
  LoadedProgram program_;
  StepLauncher launcher_;
  TaskStreams streams_;
  EventTable events_;
  Communicators communicators_;
  RunWatch watch_;
  NcclCarrier carrier_;
  Iteration iteration_;
};

// One that is connected, for a rank in a process of its own.
RankExecutor make_nccl_rank(const Program& program, RankPeers& peers, const NcclOptions& options);

}  // namespace moesim
