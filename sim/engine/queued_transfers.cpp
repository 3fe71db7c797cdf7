#include "sim/engine/queued_transfers.h"

#include <algorithm>

namespace moesim {

QueuedTransfers::QueuedTransfers(const Workload& workload, Sharing sharing)
    : workload_(workload),
      sharing_(sharing),
      ports_(static_cast<size_t>(workload.num_ranks()) * kNumPorts),
      links_(workload.classes.media.size()),
      ends_(static_cast<size_t>(workload.num_collectives())) {}

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
                   enter(links_[use.link], now, {collective, use.total(), use.weight * use.count}));
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
      PortQueue& queue = ports_[workload_.slots[participant.slot].rank * kNumPorts + port];
      end = std::max(end, enter(queue, now, {collective, load.load[port], load.weight}));
    }
  }
  return end;
}

// Returns when the load is drained. Others that were there end later for it.
Time QueuedTransfers::enter(PortQueue& queue, Time now, const Load& load) {
  if (sharing_ == Sharing::kAlone) {
    return now + load.exclusive;
  }
  Time end = now;
  queue.enter(now, load.collective, load.exclusive, load.weight);
  for (const PortQueue::User& user : queue.users()) {
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
