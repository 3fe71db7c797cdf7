#pragma once

#include <vector>

#include "kernels/executor.h"
#include "kernels/host/crew.h"
#include "kernels/host/host_options.h"
#include "kernels/host/host_plan.h"
#include "kernels/host/transport.h"

namespace moesim {

// The threads that run this process's ranks: a launching thread for each rank, a worker for each
// stream of a rank.
class HostWorkers {
 public:
  // Keeps references to both.
  HostWorkers(const HostPlan& plan, const HostOptions& options);

  bool has_real_time() { return crew_.has_real_time(); }

  // One iteration. Without a transport all ranks must be here. Throws Hang, and what an operation
  // or the transport throws; without a transport, it can be called again afterwards.
  Execution run(TensorStore& tensors, Transport* transport);

 private:
  // A thread's part: the launches of a rank (lane = kNone) or one of its streams.
  struct Part {
    int rank = 0;
    int lane = kNone;
  };

  static std::vector<Part> deal_out(const HostPlan& plan);

  const HostPlan& plan_;
  const HostOptions& options_;
  std::vector<Part> parts_;  // by thread
  Crew crew_;
};

}  // namespace moesim
