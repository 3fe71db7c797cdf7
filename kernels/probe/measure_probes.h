#pragma once

#include <functional>
#include <vector>

#include "kernels/probe/gpu_probe_plan.h"
#include "kernels/probe/probe_device.h"
#include "kernels/stopping.h"
#include "sim/io/gpu_check.h"

namespace moesim {

struct ProbeRules {
  StoppingRule rule{.least = 10, .most = 40, .spread = 0.01};
  int num_warmups = 2;  // of each probe; they do not count
  // How far the reference, or the clock, may drift from before a group to after it.
  double max_drift = kMaxProbeDrift;
  int max_attempts = 2;  // at a group; the last is kept as rejected where all drift
  double budget_seconds = 120;
  // Seconds since the probes began; asked before each probe.
  std::function<double()> elapsed{};
  // May be none. Gets all that is known whenever a group is over and others are left, which are
  // named in `not_run` then: who is ended from outside has kept something.
  std::function<void(const GpuProbes&)> keep{};
};

// Measures group after group. Between them the reference GEMM runs and the clock is read. What is
// left when the budget is over, and groups that fail, are named in `not_run`; a group that is cut
// off keeps what it has. Environment and SMs are the caller's. Throws Failure where the reference
// itself fails.
GpuProbes measure_probes(const std::vector<ProbeGroup>& groups,
                         const ProbeRules& rules,
                         ProbeDevice& device);

}  // namespace moesim
