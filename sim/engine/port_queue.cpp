#include "sim/engine/port_queue.h"

#include <algorithm>
#include <cmath>

#include "sim/base/check.h"

namespace moesim {
namespace {

__extension__ using Wide = __int128;

constexpr int kFineBits = 32;    // a unit of time is 2^-32 ps
constexpr int kWeightBits = 16;  // a unit of weight is 2^-16

Wide to_fine(Time time) {
  return Wide{time.picoseconds()} << kFineBits;
}

// Time::max() for what does not fit: a date that the machine refuses.
Time round_up(Wide fine) {
  constexpr Wide kAlmostOne = (Wide{1} << kFineBits) - 1;
  const Wide picoseconds = (fine + kAlmostOne) >> kFineBits;
  return Time::from_picoseconds(
      static_cast<std::int64_t>(std::min<Wide>(picoseconds, Time::max().picoseconds())));
}

std::int64_t to_weight_units(double weight) {
  CHECK(weight > 0, "weight {}", weight);
  return std::max<std::int64_t>(1, std::llround(std::ldexp(weight, kWeightBits)));
}

// Time in which virtual time grows by `growth`.
Wide duration(Wide growth, std::int64_t total_weight) {
  return (growth * total_weight) >> kWeightBits;
}

}  // namespace

void PortQueue::enter(Time now, int collective, Time load, double weight) {
  CHECK(load > Time::zero());
  drain_until(to_fine(now));
  const std::int64_t units = to_weight_units(weight);
  User user{.collective = collective, .end = now + load, .weight = units};
  user.finish = virtual_time_ + (to_fine(load) << kWeightBits) / units;
  const auto later =
      std::upper_bound(users_.begin(), users_.end(), user, [](const User& a, const User& b) {
        return a.finish < b.finish || (a.finish == b.finish && a.collective < b.collective);
      });
  users_.insert(later, user);
  total_weight_ += units;
  if (users_.size() > 1) {
    predict();
  }
}

// Lets users leave up to `now` and brings virtual time up to it.
void PortQueue::drain_until(Wide now) {
  auto left = users_.begin();
  for (; left != users_.end(); ++left) {
    const Wide leaves = clock_ + duration(left->finish - virtual_time_, total_weight_);
    if (leaves > now) {
      break;
    }
    clock_ = leaves;
    virtual_time_ = left->finish;
    total_weight_ -= left->weight;
  }
  users_.erase(users_.begin(), left);
  if (users_.empty()) {
    virtual_time_ = 0;
  } else {
    // Rounded up, but not past the next one to leave.
    const Wide growth = (((now - clock_) << kWeightBits) + total_weight_ - 1) / total_weight_;
    virtual_time_ = std::min(virtual_time_ + growth, users_.front().finish);
  }
  clock_ = now;
}

// When each user leaves if nobody else enters.
void PortQueue::predict() {
  Wide clock = clock_;
  Wide virtual_time = virtual_time_;
  std::int64_t weight = total_weight_;
  for (User& user : users_) {
    clock += duration(user.finish - virtual_time, weight);
    virtual_time = user.finish;
    weight -= user.weight;
    user.end = round_up(clock);
  }
}

}  // namespace moesim
