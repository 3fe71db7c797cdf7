#include "sim/engine/queued_transfers.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "sim/engine/queue_load.h"

namespace moesim {

QueuedTransfers::QueuedTransfers(const Workload& workload, Sharing sharing)
    : workload_(workload),
      sharing_(sharing),
      queues_(static_cast<size_t>(num_queues(workload))),
      ends_(static_cast<size_t>(workload.num_collectives())) {
  if (sharing == Sharing::kLeast) {
    find_most_weights();
  }
}

// Collectives on one stream that have a rank in common follow each other, and so do those of two
// classes of instances with a class of ranks in common, which does everything at the same time. Of
// these, told apart by stream and the port's rank or their first one, the heaviest counts.
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
    for_each_load(workload_, collective, [&](const QueueLoad& load) {
      const bool is_port = load.queue < workload_.num_ranks() * kNumPorts;
      const int rank = is_port ? load.queue / kNumPorts : first_rank;
      double& heaviest = most[{load.queue, stream, rank}];
      heaviest = std::max(heaviest, load.weight * load.count);
    });
  }
  most_weights_.resize(queues_.size());
  for (const auto& [key, weight] : most) {
    most_weights_[std::get<0>(key)] += weight;
  }
}

void QueuedTransfers::begin(Time now, int collective) {
  ends_[collective] = now + workload_.collectives[collective].alone;
  begun_.push_back(collective);
  if (sharing_ == Sharing::kLeast) {
    ends_[collective] = at_least(now, collective);
  } else if (sharing_ == Sharing::kByWeight) {
    enter_all(now, collective);
  }
}

void QueuedTransfers::enter_all(Time now, int collective) {
  const Time alone = workload_.collectives[collective].alone;
  for_each_load(workload_, collective, [&](const QueueLoad& load) {
    const std::optional<Time> end = queues_[load.queue].enter(now,
                                                              {.collective = collective,
                                                               .load = load.total(),
                                                               .alone = alone,
                                                               .weight = load.weight * load.count});
    if (end) {
      ends_[collective] = std::max(ends_[collective], *end);
    } else {
      entered_.push_back(load.queue);
    }
  });
}

// When the collective ends whoever else is there.
Time QueuedTransfers::at_least(Time now, int collective) const {
  Time longest = workload_.collectives[collective].alone;
  for_each_load(workload_, collective, [&](const QueueLoad& load) {
    constexpr double kLongest = 8e6;  // seconds: more than a machine takes (Machine)
    const double seconds = load.load.seconds() * most_weights_[load.queue] / load.weight;
    longest = std::max(longest, Time::from_seconds(std::min(seconds, kLongest)));
  });
  return now + std::min(longest, Time::max() - now);
}

// When all that begins at a time has entered: who was there before ends later for it.
void QueuedTransfers::settle() {
  std::ranges::sort(entered_);
  const auto [first, last] = std::ranges::unique(entered_);
  entered_.erase(first, last);
  for (const int queue : entered_) {
    queues_[queue].settle();
    for (const PortQueue::User& user : queues_[queue].users()) {
      ends_[user.collective] = std::max(ends_[user.collective], user.end);
    }
  }
  entered_.clear();
  for (const int collective : begun_) {
    expected_.emplace(ends_[collective], collective);
  }
  begun_.clear();
}

std::optional<Time> QueuedTransfers::next() {
  settle();
  return expected_.empty() ? std::nullopt : std::optional(expected_.top().first);
}

std::vector<int> QueuedTransfers::take_ended(Time now) {
  settle();
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
