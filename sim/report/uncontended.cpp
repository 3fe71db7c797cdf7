#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/core.h>

#include "sim/analysis/data_dependences.h"
#include "sim/base/check.h"
#include "sim/collective/collective_cost.h"
#include "sim/engine/simulate.h"
#include "sim/program/group_table.h"
#include "sim/report/result.h"

namespace moesim {
namespace {

constexpr std::array<std::string_view, kNumPorts> kPortNames = {
    "intra-node out", "intra-node in", "inter-node out", "inter-node in"};

// Seconds of exclusive use that rank 0's collectives ask of each of its ports: no order of them can
// end before the busiest port has carried its share.
std::array<Time, kNumPorts> port_work(const Program& program,
                                      const Cluster& cluster,
                                      const Profile& profile) {
  std::array<Time, kNumPorts> work{};
  GroupTable groups;
  groups.update(program);
  const ValidRows valid_rows(program);
  const CollectiveCosts costs(program, cluster, profile, valid_rows);
  for (const int index : tasks_of_rank(program, groups, 0)) {
    const Task& task = program.tasks[index];
    if (const auto* collective = std::get_if<Collective>(&task.descriptor)) {
      const int instance = groups.instance(collective->group, 0);
      const std::vector<int>& members = program.groups[collective->group].members[instance];
      const CollectiveLoad load = costs.load(task, members, groups.index(collective->group, 0));
      for (int port = 0; port < kNumPorts; ++port) {
        work[port] += load.load[port];
      }
    }
  }
  return work;
}

}  // namespace

LowerBounds uncontended_bounds(const ResultInputs& inputs) {
  CHECK(inputs.program != nullptr);
  const Program& program = *inputs.program;
  LowerBounds bounds =
      lower_bounds(program, task_durations(program, inputs.cluster, inputs.profile));
  if (inputs.cluster == nullptr || inputs.profile == nullptr) {
    return bounds;
  }
  const std::array<Time, kNumPorts> work = port_work(program, *inputs.cluster, *inputs.profile);
  for (int port = 0; port < kNumPorts; ++port) {
    if (work[port] > bounds.busiest) {
      bounds.busiest = work[port];
      bounds.busiest_name = fmt::format("port {}", kPortNames[port]);
    }
  }
  return bounds;
}

}  // namespace moesim
