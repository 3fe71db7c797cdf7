#include "sim/engine/queued_transfers.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace moesim {

QueuedTransfers::QueuedTransfers(const Workload& workload, Sharing sharing)
    : workload_(workload),
      sharing_(sharing),
      queues_(static_cast<size_t>(workload.num_ranks()) * kNumPorts +
              workload.classes.media.size()),
      ends_(static_cast<size_t>(workload.num_collectives())) {
  if (sharing == Sharing::kLeast) {
    find_most_weights();
  }
}

// Collectives on one stream that have a rank in common follow each other, and so do those of two
// classes of instances with a class of ranks in common, which does everything at the same time. Of
// these, told apart by stream and first rank, the heaviest counts.
void QueuedTransfers::find_most_weights() {
  std::map<std::tuple<int, int, int>, double> most;  // queue, stream, rank
  for (int collective = 0; collective < workload_.num_collectives(); ++collective) {
    const JointCollective& joint = workload_.collectives[collective];
    const JointCollective& after = workload_.collectives[collective + 1];
    if (joint.first_participant == after.first_participant) {
      continue;
    }
    const int first_slot = workload_.participants[joint.first_participant].slot;
    const int first_rank = workload_.slots[first_slot].rank;
    const Script& script = workload_.script(first_rank);
    const int communicator = script.communicator[first_slot - workload_.first_slot[first_rank]];
    const int stream = workload_.scripts.communicators[communicator].stream;
    for (int i = joint.first_participant; i < after.first_participant; ++i) {
      const auto& [slot, load] = workload_.participants[i];
      const int rank = workload_.slots[slot].rank;
      for (int port = 0; port < kNumPorts; ++port) {
        double& heaviest = most[{rank * kNumPorts + port, stream, rank}];
        heaviest = std::max(heaviest, load.load[port] > Time::zero() ? load.weight : 0);
      }
    }
    for (int i = joint.first_link_use; i < after.first_link_use; ++i) {
      const LinkUse& use = workload_.link_uses[i];
      double& heaviest = most[{workload_.num_ranks() * kNumPorts + use.link, stream, first_rank}];
      heaviest = std::max(heaviest, use.weight * use.count);
    }
  }
  most_weights_.resize(queues_.size());
  for (const auto& [key, weight] : most) {
    most_weights_[std::get<0>(key)] += weight;
  }
}

void QueuedTransfers::begin(Time now, int collective) {
  const JointCollective& joint = workload_.collectives[collective];
  const JointCollective& after = workload_.collectives[collective + 1];
  Time end = now;
  for (int i = joint.first_participant; i < after.first_participant; ++i) {
    end = std::max(end, load_ports(now, workload_.participants[i], collective));
  }
  for (int i = joint.first_link_use; i < after.first_link_use; ++i) {
    const LinkUse& use = workload_.link_uses[i];
    end = std::max(end,
                   enter(workload_.num_ranks() * kNumPorts + use.link,
                         now,
                         {collective, use.total(), use.weight * use.count}));
  }
  ends_[collective] = end;
  expected_.emplace(end, collective);
}

// Puts a participant's loads on its ports and returns when the last of them is drained.
Time QueuedTransfers::load_ports(Time now, const Participant& participant, int collective) {
  const CollectiveLoad& load = participant.load;
  Time end = now + load.of_its_own;
  for (int port = 0; port < kNumPorts; ++port) {
    if (load.load[port] > Time::zero()) {
      const int queue = workload_.slots[participant.slot].rank * kNumPorts + port;
      end = std::max(end, enter(queue, now, {collective, load.load[port], load.weight}));
    }
  }
  return end;
}

// Returns when the load is drained. Others that were there end later for it.
Time QueuedTransfers::enter(int queue, Time now, const Load& load) {
  if (sharing_ == Sharing::kAlone) {
    return now + load.exclusive;
  }
  if (sharing_ == Sharing::kLeast) {
    constexpr double kLongest = 1e6;  // more seconds than an iteration may take (Machine)
    const double seconds = load.exclusive.seconds() * most_weights_[queue] / load.weight;
    return now + Time::from_seconds(std::min(seconds, kLongest));
  }
  Time end = now;
  queues_[queue].enter(now, load.collective, load.exclusive, load.weight);
  for (const PortQueue::User& user : queues_[queue].users()) {
    Time& user_end = user.collective == load.collective ? end : ends_[user.collective];
    user_end = std::max(user_end, user.end);
  }
  return end;
}

std::optional<Time> QueuedTransfers::next() {
  return expected_.empty() ? std::nullopt : std::optional(expected_.top().first);
}

std::vector<int> QueuedTransfers::take_ended(Time now) {
  std::vector<int> ended;
  while (!expected_.empty() && expected_.top().first <= now) {
    const int collective = expected_.top().second;
    expected_.pop();
    if (ends_[collective] <= now) {
      ended.push_back(collective);
    } else {
      expected_.emplace(ends_[collective], collective);  // slowed by others since
    }
  }
  return ended;
}

}  // namespace moesim
