#include "sim/engine/uncontended_work.h"

#include <algorithm>
#include <utility>

#include "sim/engine/workload.h"

namespace moesim {
namespace {

// What a collective takes alone, with all its phases.
Time time_alone(const Workload& workload, int collective) {
  Time sum;
  for (int at = collective; at != kNone; at = workload.collectives[at].next) {
    sum += workload.collectives[at].startup + workload.collectives[at].alone;
  }
  return sum;
}

RankWork work_of(const Workload& workload, int rank, std::size_t num_tasks) {
  RankWork work;
  work.rank = workload.classes.ranks[rank].representative;
  work.durations.resize(num_tasks);
  work.collectives.resize(num_tasks, kNone);
  const std::vector<int>& tasks = workload.script(rank).tasks;
  for (std::size_t position = 0; position < tasks.size(); ++position) {
    const Slot& slot = workload.slots[workload.first_slot[rank] + position];
    work.durations[tasks[position]] = slot.duration;
    if (slot.action == Action::kJoin) {
      work.durations[tasks[position]] = time_alone(workload, slot.collective);
      work.collectives[tasks[position]] = slot.collective;
    }
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
  UncontendedWork work;
  for (int rank = 0; rank < workload.num_ranks(); ++rank) {
    work.ranks.push_back(work_of(workload, rank, program.tasks.size()));
  }
  work.port_loads = busiest_ports(workload);
  find_busiest_link(workload, work);
  return work;
}

}  // namespace moesim
