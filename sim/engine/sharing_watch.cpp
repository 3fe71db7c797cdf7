#include "sim/engine/sharing_watch.h"

#include "sim/engine/queue_load.h"

namespace moesim {

SharingWatch::SharingWatch(const Workload& workload, Transfers& watched)
    : workload_(workload),
      watched_(watched),
      meetings_(static_cast<size_t>(num_queues(workload))),
      begins_(static_cast<size_t>(workload.num_collectives())) {}

void SharingWatch::begin(Time now, int collective) {
  begins_[collective] = now;
  if (is_exact_) {
    for_each_load(workload_, collective, [&](const QueueLoad& load) {
      Meeting& meeting = meetings_[load.queue];
      if (meeting.num_present++ == 0) {
        meeting = {now, load.load, Time::zero(), load.weight, 1, false};
      } else if (meeting.begin != now || meeting.load != load.load ||
                 meeting.weight != load.weight) {
        is_exact_ = false;
      }
      meeting.total += load.total();
    });
  }
  watched_.begin(now, collective);
}

std::vector<int> SharingWatch::take_ended(Time now) {
  std::vector<int> ended = watched_.take_ended(now);
  for (const int collective : ended) {
    is_exact_ = is_exact_ && leave(now, collective);
  }
  return ended;
}

// It ends because it takes that long alone, or because of its busiest queue, which holds all others
// there for as long.
bool SharingWatch::leave(Time now, int collective) {
  bool is_explained = now - begins_[collective] == workload_.collectives[collective].alone;
  bool holds_others = false;
  for_each_load(workload_, collective, [&](const QueueLoad& load) {
    Meeting& meeting = meetings_[load.queue];
    --meeting.num_present;
    const bool is_busiest = meeting.begin + meeting.total == now;
    is_explained |= is_busiest;
    holds_others |= meeting.was_busiest && !is_busiest;
    meeting.was_busiest = is_busiest;
  });
  return is_explained && !holds_others;
}

}  // namespace moesim
