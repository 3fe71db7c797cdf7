#include "sim/engine/uncontended_work.h"

#include <algorithm>
#include <map>
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

std::vector<MediumWork> work_of_media(const Workload& workload) {
  std::vector<MediumWork> media;
  for (const int medium : workload.classes.media) {
    media.push_back({medium, Time::zero()});
  }
  // Layers come back to the same uses at the same scale: what these put on links is found once.
  std::map<std::pair<int, double>, std::pair<const JointCollective*, int>> alike;
  for (const JointCollective& joint : workload.collectives) {
    if (joint.first_link_use < joint.end_link_use) {
      auto& [one, count] = alike[{joint.first_link_use, joint.link_scale}];
      one = &joint;
      ++count;
    }
  }
  for (const auto& [key, value] : alike) {
    const auto& [joint, count] = value;
    for (int i = joint->first_link_use; i < joint->end_link_use; ++i) {
      const LinkUse& use = workload.link_uses[i];
      media[use.link].load += joint->total_load(use) * count;
    }
  }
  return media;
}

std::array<Time, kNumPorts> busiest_ports(const Workload& workload) {
  std::vector<std::array<Time, kNumPorts>> loads(workload.num_ranks());
  std::array<Time, kNumPorts> most{};
  for (const Participant& participant : workload.participants) {
    std::array<Time, kNumPorts>& load = loads[workload.slots[participant.slot].rank];
    for (int port = 0; port < kNumPorts; ++port) {
      load[port] += workload.load(participant).load[port];
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
  Classes classes = are_all_unlike(program) ? separate_classes(scripts, links, costs)
                                            : fold_classes(scripts, links, costs);
  return uncontended_work(make_workload(std::move(scripts), std::move(classes), links, costs),
                          program.tasks.size());
}

UncontendedWork uncontended_work(const Workload& workload, std::size_t num_tasks) {
  UncontendedWork work;
  for (int rank = 0; rank < workload.num_ranks(); ++rank) {
    work.ranks.push_back(work_of(workload, rank, num_tasks));
  }
  work.port_loads = busiest_ports(workload);
  work.media = work_of_media(workload);
  work.class_of_medium = workload.classes.of_medium;
  return work;
}

}  // namespace moesim
