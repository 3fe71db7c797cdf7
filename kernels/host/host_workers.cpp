#include "kernels/host/host_workers.h"

#include "kernels/host/host_run.h"
#include "sim/base/check.h"

namespace moesim {

HostWorkers::HostWorkers(const HostPlan& plan, const HostOptions& options)
    : plan_(plan),
      options_(options),
      parts_(deal_out(plan)),
      crew_(static_cast<int>(parts_.size()), options.clock != HostClock::kRaw) {}

std::vector<HostWorkers::Part> HostWorkers::deal_out(const HostPlan& plan) {
  std::vector<Part> parts;
  for (const int rank : plan.ranks) {
    parts.push_back({rank, kNone});
    for (int lane = 0; lane < static_cast<int>(plan.script.ranks[rank].lanes.size()); ++lane) {
      parts.push_back({rank, lane});
    }
  }
  return parts;
}

Execution HostWorkers::run(TensorStore& tensors, Transport* transport) {
  CHECK(&tensors.program() == plan_.program, "tensors of another program");
  CHECK(tensors.ranks() == plan_.ranks, "tensors of {} other ranks", tensors.ranks().size());
  CHECK(transport != nullptr || static_cast<int>(plan_.ranks.size()) == plan_.program->num_ranks,
        "ranks of other processes, and no transport");
  HostRun run(plan_, options_, {crew_.has_real_time(), transport}, tensors);
  const std::function<void(int)> body = [&](int thread) {
    const Part& part = parts_[thread];
    if (part.lane == kNone) {
      run.launch(part.rank);
    } else {
      run.work(part.rank, part.lane);
    }
  };
  crew_.start(body);
  run.supervise();
  crew_.finish();
  return run.result();
}

}  // namespace moesim
