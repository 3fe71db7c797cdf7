#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "kernels/host/host_options.h"
#include "kernels/host/host_script.h"
#include "kernels/host/link_manager.h"
#include "kernels/moves.h"
#include "kernels/operation.h"
#include "kernels/row_spans.h"

namespace moesim {

// What a collective does when its members have met.
struct MeetingPlan {
  MovePlan moves;
  std::vector<Flow> flows;
  Time latency;
};

// All that the runs of a Program have in common, resolved once.
struct HostPlan {
  const Program* program = nullptr;
  std::vector<int> ranks;  // of this process
  std::unique_ptr<RowMap> map;
  HostScript script;
  std::vector<std::vector<std::unique_ptr<Operation>>> operations;  // [rank][position]; or null
  // By the same; empty where operations last as long as this machine takes, dilated or not.
  std::vector<std::vector<Time>> operation_times;
  std::vector<MeetingPlan> meetings;  // empty where no rank of this process is a member
  std::vector<double> link_rates;     // empty: links are not paced
};

// For a process that runs `ranks`, ascending. Throws Error for clusters that are too small, and
// what make_operation throws.
HostPlan make_host_plan(const Program& program, const HostOptions& options, std::vector<int> ranks);

}  // namespace moesim
