#pragma once

#include <string>
#include <vector>

#include "kernels/executor.h"
#include "kernels/host/hang_detector.h"
#include "kernels/host/host_options.h"
#include "kernels/host/host_plan.h"
#include "kernels/host/host_workers.h"
#include "kernels/mpi/courier.h"
#include "kernels/mpi/mpi_transport.h"
#include "kernels/mpi/mpi_world.h"

namespace moesim {

// Runs a Program on the processes that mpirun started: each has an equal run of the ranks, in
// order, on threads as HostExecutor has them. Operations compute for real; collectives take as long
// as MPI and the network take. Every process makes one and calls run() as often as the others.
class MpiExecutor : public Executor {
 public:
  // Keeps references to both. Throws Error when the ranks cannot be dealt out equally, for a clock
  // or a cluster that would pace the network, and for what make_operation refuses.
  MpiExecutor(MpiWorld& world, const Program& program, HostOptions options);

  // Of this process.
  const std::vector<int>& ranks() const { return plan_.ranks; }

  Courier& courier() { return courier_; }

  // `tensors` holds ranks(). On process 0 the trace has all ranks; on others only their own, but
  // the same end and lateness. After an exception the processes can only be ended.
  Execution run(TensorStore& tensors) override;

 private:
  std::vector<std::string> assumptions(const MpiTransport& transport);

  MpiWorld& world_;
  HostOptions options_;
  RankLayout layout_;
  HostPlan plan_;
  HangDetector detector_;
  Courier courier_;
  HostWorkers workers_;
};

}  // namespace moesim
