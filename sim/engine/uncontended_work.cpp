#include "sim/engine/uncontended_work.h"

#include <algorithm>
#include <utility>

#include "sim/engine/workload.h"

namespace moesim {
namespace {

// What each collective takes alone: start-up, then the longest transfer of any participant, and the
// same of the phases behind it, which have higher numbers.
std::vector<Time> times_alone(const Workload& workload) {
  std::vector<Time> times;
  for (int collective = 0; collective < workload.num_collectives(); ++collective) {
    const JointCollective& joint = workload.collectives[collective];
    const int end = workload.collectives[collective + 1].first_participant;
    Time transfer;
    for (int i = joint.first_participant; i < end; ++i) {
      const CollectiveLoad& load = workload.participants[i].load;
      transfer = std::max(transfer, load.alone() - load.startup);
    }
    const int end_use = workload.collectives[collective + 1].first_link_use;
    for (int i = joint.first_link_use; i < end_use; ++i) {
      transfer = std::max(transfer, workload.link_uses[i].load);
    }
    times.push_back(joint.startup + transfer);
  }
  for (int collective = workload.num_collectives() - 1; collective >= 0; --collective) {
    if (const int next = workload.collectives[collective].next; next != kNone) {
      times[collective] += times[next];
    }
  }
  return times;
}

RankWork work_of(const Workload& workload,
                 const std::vector<Time>& alone,
                 int rank,
                 std::size_t num_tasks) {
  RankWork work;
  work.rank = workload.classes.ranks[rank].representative;
  work.durations.resize(num_tasks);
  work.collectives.resize(num_tasks, kNone);
  const std::vector<int>& tasks = workload.script(rank).tasks;
  for (std::size_t position = 0; position < tasks.size(); ++position) {
    const Slot& slot = workload.slots[workload.first_slot[rank] + position];
    const bool joins = slot.action == Action::kJoin;
    work.durations[tasks[position]] = joins ? alone[slot.collective] : slot.duration;
    work.collectives[tasks[position]] = joins ? slot.collective : kNone;
  }
  check_total(work.durations);
  return work;
}

void find_busiest_link(const Workload& workload, UncontendedWork& work) {
  std::vector<Time> loads(workload.classes.media.size());
  for (const LinkUse& use : workload.link_uses) {
    loads[use.link] += use.total();
    if (loads[use.link] > work.link_load) {
      work.link_load = loads[use.link];
      work.busiest_medium = workload.classes.media[use.link];
    }
  }
}

std::array<Time, kNumPorts> busiest_ports(const Workload& workload) {
  std::vector<std::array<Time, kNumPorts>> loads(workload.num_ranks());
  std::array<Time, kNumPorts> most{};
  for (const Participant& participant : workload.participants) {
    std::array<Time, kNumPorts>& load = loads[workload.slots[participant.slot].rank];
    for (int port = 0; port < kNumPorts; ++port) {
      load[port] += participant.load.load[port];
      most[port] = std::max(most[port], load[port]);
    }
  }
  return most;
}

}  // namespace

UncontendedWork uncontended_work(const Program& program,
                                 const Cluster* cluster,
                                 const Profile* profile) {
  TaskCosts costs(program, cluster, profile);
  Scripts scripts = make_scripts(program, hardware_queues(profile));
  const LinkPatterns links = make_link_patterns(costs);
  Classes classes = fold_classes(scripts, links, costs);
  const Workload workload = make_workload(std::move(scripts), std::move(classes), links, costs);
  const std::vector<Time> alone = times_alone(workload);
  UncontendedWork work;
  for (int rank = 0; rank < workload.num_ranks(); ++rank) {
    work.ranks.push_back(work_of(workload, alone, rank, program.tasks.size()));
  }
  work.port_loads = busiest_ports(workload);
  find_busiest_link(workload, work);
  return work;
}

}  // namespace moesim
