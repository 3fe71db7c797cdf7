#include "sim/engine/sharing_watch.h"

namespace moesim {

SharingWatch::SharingWatch(const Workload& workload, Transfers& watched)
    : workload_(workload),
      watched_(watched),
      meetings_(static_cast<size_t>(num_queues(workload))),
      begins_(static_cast<size_t>(workload.num_collectives())),
      company_(begins_.size(), kNone),
      is_staggered_(begins_.size()) {}

void SharingWatch::begin(Time now, int collective) {
  begins_[collective] = now;
  if (is_exact_) {
    company_[collective] = find_company(collective);
    for_each_load(workload_, collective, [&](const QueueLoad& load) {
      enter(now, company_[collective], load);
    });
  }
  watched_.begin(now, collective);
}

// Copies are on the same ports and links: whoever is on the first that is not free tells.
int SharingWatch::find_company(int collective) const {
  int there = kNone;
  for_each_load(workload_, collective, [&](const QueueLoad& load) {
    const Meeting& meeting = meetings_[load.queue];
    if (there == kNone && meeting.num_present > 0) {
      there = meeting.company;
    }
  });
  return there != kNone && are_copies(there, collective) ? there : collective;
}

// Whether they load the same ports and links alike, and take as long alone.
bool SharingWatch::are_copies(int one, int other) const {
  const JointCollective& a = workload_.collectives[one];
  const JointCollective& b = workload_.collectives[other];
  const int count = workload_.collectives[one + 1].first_participant - a.first_participant;
  bool are_alike =
      a.alone == b.alone && a.weight == b.weight && a.link_scale == b.link_scale &&
      a.first_link_use == b.first_link_use && a.end_link_use == b.end_link_use &&
      count == workload_.collectives[other + 1].first_participant - b.first_participant;
  for (int i = 0; are_alike && i < count; ++i) {
    const Participant& of_a = workload_.participants[a.first_participant + i];
    const Participant& of_b = workload_.participants[b.first_participant + i];
    are_alike = workload_.slots[of_a.slot].rank == workload_.slots[of_b.slot].rank &&
                workload_.load(of_a).load == workload_.load(of_b).load &&
                workload_.load(of_a).weight == workload_.load(of_b).weight;
  }
  return are_alike;
}

void SharingWatch::enter(Time now, int company, const QueueLoad& load) {
  Meeting& meeting = meetings_[load.queue];
  if (meeting.num_present++ == 0) {
    meeting = {now, load.load, Time::zero(), load.weight, 1, false, company};
  } else if (meeting.company == company) {
    is_staggered_[company] = is_staggered_[company] || meeting.begin != now;
  } else {
    meeting.company = kNone;
    is_exact_ = is_exact_ && meeting.begin == now && meeting.load == load.load &&
                meeting.weight == load.weight;
  }
  meeting.total += load.total();
}

std::vector<int> SharingWatch::take_ended(Time now) {
  std::vector<int> ended = watched_.take_ended(now);
  for (const int collective : ended) {
    is_exact_ = is_exact_ && leave(now, collective);
  }
  return ended;
}

// It ends because it takes that long alone, or because of its busiest queue, which holds all others
// there for as long; or it has met copies alone.
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
  return is_staggered_[company_[collective]] || (is_explained && !holds_others);
}

}  // namespace moesim
