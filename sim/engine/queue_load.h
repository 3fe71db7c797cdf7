#pragma once

#include "sim/engine/workload.h"

namespace moesim {

// What a collective puts on one port or link: `count` instances alike the same each. Queues are
// numbered ports first, as [rank][port], then classes of media.
struct QueueLoad {
  int queue = 0;
  Time load;
  double weight = 1;
  int count = 1;

  Time total() const { return load.scaled(count); }
};

inline int num_queues(const Workload& workload) {
  return workload.num_ranks() * kNumPorts + static_cast<int>(workload.classes.media.size());
}

// Calls visit(QueueLoad) for every port and link that a collective loads.
template <typename Visit>
void for_each_load(const Workload& workload, int collective, const Visit& visit) {
  const JointCollective& joint = workload.collectives[collective];
  const JointCollective& after = workload.collectives[collective + 1];
  for (int i = joint.first_participant; i < after.first_participant; ++i) {
    const Participant& participant = workload.participants[i];
    const CollectiveLoad& load = workload.load(participant);
    const int rank = workload.slots[participant.slot].rank;
    for (int port = 0; port < kNumPorts; ++port) {
      if (load.load[port] > Time::zero()) {
        visit(QueueLoad{rank * kNumPorts + port, load.load[port], load.weight});
      }
    }
  }
  for (int i = joint.first_link_use; i < joint.end_link_use; ++i) {
    const LinkUse& use = workload.link_uses[i];
    if (const Time load = joint.load(use); load > Time::zero()) {
      visit(QueueLoad{workload.num_ranks() * kNumPorts + use.link, load, joint.weight, use.count});
    }
  }
}

}  // namespace moesim
