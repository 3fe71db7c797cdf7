#pragma once

#include <string>
#include <vector>

#include "kernels/executor.h"
#include "kernels/host/host_options.h"
#include "kernels/host/host_plan.h"
#include "kernels/host/host_workers.h"

namespace moesim {

// Runs all ranks of a Program in this process: a launching thread for each rank, a worker for each
// stream of a rank. Computes for real, moves bytes for real, and paces what this machine does not
// have (links, long GEMMs) by sleeping to planned ends.
class HostExecutor : public Executor {
 public:
  // Keeps a reference to the Program. Throws Error for a cluster with too few GPUs and for what
  // make_operation refuses.
  HostExecutor(const Program& program, HostOptions options);

  // `tensors` must hold all ranks. Throws Hang, and what an operation throws; the executor can be
  // used again afterwards.
  Execution run(TensorStore& tensors) override;

 private:
  std::vector<std::string> assumptions();

  HostOptions options_;
  HostPlan plan_;
  HostWorkers workers_;
};

}  // namespace moesim
