#include "sim/engine/stall.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/check.h"
#include "sim/base/message.h"

namespace moesim {
namespace {

// Who has joined a collective and whose task is missing.
struct Waiting {
  std::vector<int> joined;   // representatives
  std::vector<int> missing;  // all ranks of the missing classes in the representative's instance
  std::vector<int> tasks;    // of those that joined
};

std::string names(const Program& program, std::vector<int> tasks) {
  std::sort(tasks.begin(), tasks.end());
  tasks.erase(std::unique(tasks.begin(), tasks.end()), tasks.end());
  std::vector<std::string> quoted;
  quoted.reserve(tasks.size());
  for (const int task : tasks) {
    quoted.push_back(fmt::format("'{}'", visible_in_line(program.tasks[task].name)));
  }
  return fmt::format("{}", fmt::join(quoted, ", "));
}

Waiting waiting_in(const Program& program,
                   const Workload& workload,
                   const Machine& machine,
                   int collective) {
  Waiting waiting;
  std::vector<bool> has_joined(workload.num_ranks());
  const int end = workload.collectives[collective + 1].first_participant;
  for (int i = workload.collectives[collective].first_participant; i < end; ++i) {
    const int slot = workload.participants[i].slot;
    if (!machine.has_started(slot)) {
      continue;
    }
    const int rank = workload.slots[slot].rank;
    has_joined[rank] = true;
    waiting.joined.push_back(workload.classes.ranks[rank].representative);
    const int position = slot - workload.first_slot[rank];
    waiting.tasks.push_back(workload.script(rank).tasks[position]);
  }
  if (waiting.joined.empty()) {
    return waiting;
  }
  const auto& descriptor = std::get<Collective>(program.tasks[waiting.tasks[0]].descriptor);
  for (const std::vector<int>& members : program.groups[descriptor.group].members) {
    if (std::find(members.begin(), members.end(), waiting.joined[0]) == members.end()) {
      continue;
    }
    for (const int rank : members) {
      if (!has_joined[workload.classes.of_rank[rank]]) {
        waiting.missing.push_back(rank);
      }
    }
  }
  return waiting;
}

}  // namespace

std::string describe_stall(const Program& program,
                           const Workload& workload,
                           const Machine& machine) {
  constexpr std::size_t kMaxReasons = 5;
  std::vector<std::string> reasons;
  for (int i = 0; i < workload.num_collectives() && reasons.size() < kMaxReasons; ++i) {
    if (workload.collectives[i].phase > 0) {
      continue;  // named with its first
    }
    const Waiting waiting = waiting_in(program, workload, machine, i);
    if (waiting.joined.empty() || waiting.missing.empty()) {
      continue;
    }
    reasons.push_back(fmt::format("{} on rank {} waits for rank {}, which never gets there",
                                  names(program, waiting.tasks),
                                  fmt::join(waiting.joined, ", "),
                                  fmt::join(waiting.missing, ", ")));
  }
  CHECK(!reasons.empty(), "program '{}' stops without a collective that waits", program.name);
  return fmt::format(
      "program '{}' deadlocks: {}; issue the collectives of each group and stream in "
      "the same order on all its ranks",
      visible_in_line(program.name),
      fmt::join(reasons, "; "));
}

}  // namespace moesim
