#include "sim/engine/slow_links.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <variant>

#include <fmt/core.h>

#include "sim/base/message.h"
#include "sim/base/units.h"
#include "sim/collective/tariff.h"

namespace moesim {
namespace {

// What a phase of a collective takes, its start-ups apart.
struct Compared {
  Time measured;
  Time on_links;

  double times() const { return on_links.seconds() / measured.seconds(); }
};

// Of the longest part of any member.
Time measured_time(const Workload& workload, int collective) {
  Time longest;
  const int end = workload.collectives[collective + 1].first_participant;
  for (int i = workload.collectives[collective].first_participant; i < end; ++i) {
    const CollectiveLoad& load = workload.load(workload.participants[i]);
    longest = std::max(longest, load.alone() - load.startup);
  }
  return longest;
}

// Of all instances of the group at once, as it was measured (docs/model.md).
Time busiest_link(const Workload& workload, const JointCollective& joint) {
  Time longest;
  for (int i = joint.first_link_use; i < joint.end_link_use; ++i) {
    longest = std::max(longest, joint.total_load(workload.link_uses[i]));
  }
  return longest;
}

// By which task, and on which rank.
std::pair<int, int> task_and_rank(const Workload& workload, const JointCollective& joint) {
  const Slot& slot = workload.slots[workload.participants[joint.first_participant].slot];
  const int position =
      workload.participants[joint.first_participant].slot - workload.first_slot[slot.rank];
  return {workload.script(slot.rank).tasks[position],
          workload.classes.ranks[slot.rank].representative};
}

}  // namespace

std::vector<std::string> slow_links(const Workload& workload, TaskCosts& costs) {
  std::map<std::pair<int, double>, Time> known;  // links' times: layers come back to the same
  std::map<std::string, std::pair<int, Compared>> slowest;  // by operation and span: task
  for (int i = 0; i < workload.num_collectives(); ++i) {
    const JointCollective& joint = workload.collectives[i];
    if (joint.first_link_use == joint.end_link_use) {
      continue;
    }
    const auto [found, is_new] = known.try_emplace({joint.first_link_use, joint.link_scale});
    if (is_new) {
      found->second = busiest_link(workload, joint);
    }
    const Compared here{measured_time(workload, i), found->second};
    if (here.measured == Time::zero() || here.times() <= 1 + kEqualRates) {
      continue;
    }
    const auto [task, rank] = task_and_rank(workload, joint);
    const auto& collective = std::get<Collective>(costs.program().tasks[task].descriptor);
    const Span span = costs.place(collective, rank).span();
    auto& [of_task, most] =
        slowest.try_emplace(describe(collective.operation, span), task, here).first->second;
    if (here.times() > most.times()) {
      std::tie(of_task, most) = std::pair(task, here);
    }
  }
  std::vector<std::string> lines;
  for (const auto& [name, value] : slowest) {
    const auto& [task, compared] = value;
    lines.push_back(fmt::format(
        "{}: the cluster's links are slower than what was measured and count: '{}' would move its "
        "data in {}, the links take {}, {:.4g} times as long",
        name,
        visible_in_line(costs.program().tasks[task].name),
        format_time(compared.measured),
        format_time(compared.on_links),
        compared.times()));
  }
  return lines;
}

}  // namespace moesim
