#include "sim/engine/sharing_watch.h"

namespace moesim {
namespace {

// Calls visit(meeting, load, weight, count) for every port and link that a collective loads.
template <typename Visit>
void for_each_load(const Workload& workload, int collective, const Visit& visit) {
  const JointCollective& joint = workload.collectives[collective];
  const JointCollective& after = workload.collectives[collective + 1];
  const int num_ports = workload.num_ranks() * kNumPorts;
  for (int i = joint.first_participant; i < after.first_participant; ++i) {
    const auto& [slot, load] = workload.participants[i];
    for (int port = 0; port < kNumPorts; ++port) {
      if (load.load[port] > Time::zero()) {
        visit(workload.slots[slot].rank * kNumPorts + port, load.load[port], load.weight, 1);
      }
    }
  }
  for (int i = joint.first_link_use; i < after.first_link_use; ++i) {
    const LinkUse& use = workload.link_uses[i];
    visit(num_ports + use.link, use.load, use.weight, use.count);
  }
}

}  // namespace

SharingWatch::SharingWatch(const Workload& workload, Transfers& watched)
    : workload_(workload),
      watched_(watched),
      meetings_(static_cast<size_t>(workload.num_ranks()) * kNumPorts +
                workload.classes.media.size()) {}

void SharingWatch::begin(Time now, int collective) {
  if (is_exact_) {
    for_each_load(workload_, collective, [&](int medium, Time load, double weight, int count) {
      Meeting& meeting = meetings_[medium];
      if (meeting.num_present++ == 0) {
        meeting = {.begin = now, .load = load, .total = {}, .weight = weight, .num_present = 1};
      } else if (meeting.begin != now || meeting.load != load || meeting.weight != weight) {
        is_exact_ = false;
      }
      meeting.total += load * count;
    });
  }
  watched_.begin(now, collective);
}

std::vector<int> SharingWatch::take_ended(Time now) {
  std::vector<int> ended = watched_.take_ended(now);
  for (const int collective : ended) {
    if (!is_exact_) {
      break;
    }
    for_each_load(workload_, collective, [&](int medium, Time, double, int) {
      Meeting& meeting = meetings_[medium];
      --meeting.num_present;
      const bool is_busiest = meeting.begin + meeting.total == now;
      if (meeting.was_busiest && !is_busiest) {
        is_exact_ = false;
      }
      meeting.was_busiest = is_busiest;
    });
  }
  return ended;
}

}  // namespace moesim
