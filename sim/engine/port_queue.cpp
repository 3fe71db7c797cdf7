#include "sim/engine/port_queue.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <tuple>
#include <utility>

#include "sim/base/check.h"

namespace moesim {
namespace {

using Real = long double;

constexpr Real kNever = std::numeric_limits<Real>::infinity();
constexpr Real kExact = 1e-4L;  // ps

Real picoseconds(Time time) {
  return static_cast<Real>(time.picoseconds());
}

// Time::max() for what does not fit: a date that the machine refuses.
Time round_up(Time from, Real after) {
  if (after >= picoseconds(Time::max() - from)) {
    return Time::max();
  }
  const auto whole = static_cast<std::int64_t>(after);  // never negative
  return from + Time::from_picoseconds(whole + (after - static_cast<Real>(whole) > kExact ? 1 : 0));
}

Time time_alone(const PortQueue::Use& use) {
  return std::max(use.load, use.alone);
}

// A port whose users only leave. Those that are not held by their caps drain at a common level for
// each unit of weight. The level only rises, so that who is once held stays so, and one pass over
// the users by what they need at that level, and over their caps, finds all that happens.
class Draining {
 public:
  explicit Draining(const std::vector<PortQueue::User>& users)
      : users_(users), states_(users.size()), num_sharing_(static_cast<int>(users.size())) {
    for (int i = 0; i < num_sharing_; ++i) {
      by_need_.emplace_back(users[i].left / users[i].weight, i);
      by_cap_.emplace_back(users[i].cap / users[i].weight, i);
      weights_ += users[i].weight;
    }
    std::ranges::sort(by_need_);
    std::ranges::sort(by_cap_);
    hold();
  }

  // Lets users leave that have drained their loads by `until`; the others drain up to it.
  void run(Real until) {
    while (num_sharing_ > 0 || !held_.empty()) {
      const Real sharing_ends = sharing_end();
      const Real held_ends = held_.empty() ? kNever : held_.top().first;
      if (std::min(sharing_ends, held_ends) > until + kExact) {
        break;
      }
      if (held_ends <= sharing_ends) {
        end_held();
      } else {
        end_sharing(sharing_ends);
      }
      hold();
    }
    advance(until);
  }

  bool is_gone(int user) const { return states_[user].phase == Phase::kGone; }
  Real end(int user) const { return states_[user].end; }
  Real left(int user) const {
    const State& state = states_[user];
    return state.phase == Phase::kHeld ? (state.end - now_) * users_[user].cap
                                       : users_[user].left - served_ * users_[user].weight;
  }

 private:
  enum class Phase { kSharing, kHeld, kGone };
  struct State {
    Phase phase = Phase::kSharing;
    Real end = kNever;
  };
  using Order = std::vector<std::pair<Real, int>>;

  Real level() const { return rest_ / weights_; }

  // When the next of those that share has drained its load.
  Real sharing_end() {
    while (need_ < by_need_.size() && states_[by_need_[need_].second].phase != Phase::kSharing) {
      ++need_;
    }
    return need_ == by_need_.size() ? kNever : now_ + (by_need_[need_].first - served_) / level();
  }

  void end_sharing(Real at) {
    const auto [need, user] = by_need_[need_];
    served_ = need;
    now_ = at;
    states_[user] = {Phase::kGone, at};
    stop_sharing(user);
  }

  void end_held() {
    const auto [at, user] = held_.top();
    held_.pop();
    advance(at);
    states_[user].phase = Phase::kGone;
    rest_ += users_[user].cap;
  }

  // Those whose cap the level has reached.
  void hold() {
    for (; cap_ < by_cap_.size() && num_sharing_ > 0; ++cap_) {
      const auto [level_at_cap, user] = by_cap_[cap_];
      if (states_[user].phase != Phase::kSharing) {
        continue;
      }
      if (level_at_cap > level()) {
        return;
      }
      states_[user] = {Phase::kHeld, now_ + left(user) / users_[user].cap};
      held_.emplace(states_[user].end, user);
      rest_ -= users_[user].cap;
      stop_sharing(user);
    }
  }

  void stop_sharing(int user) {
    weights_ -= users_[user].weight;
    --num_sharing_;
  }

  void advance(Real to) {
    if (num_sharing_ > 0) {
      served_ += level() * (to - now_);
    }
    now_ = to;
  }

  const std::vector<PortQueue::User>& users_;
  std::vector<State> states_;
  Order by_need_;  // load for each unit of weight
  Order by_cap_;   // level at which the cap holds
  std::size_t need_ = 0;
  std::size_t cap_ = 0;
  std::priority_queue<std::pair<Real, int>, Order, std::greater<>> held_;  // by end
  Real now_ = 0;
  Real served_ = 0;  // to each unit of weight that shares
  Real rest_ = 1;    // of the port, for those that share
  Real weights_ = 0;
  int num_sharing_ = 0;
};

}  // namespace

std::optional<Time> PortQueue::enter(Time now, const Use& use) {
  CHECK(use.load > Time::zero());
  CHECK(use.weight > 0, "weight {}", use.weight);
  if (only_ && now - free_since_ < time_alone(*only_)) {
    seat(*only_);
  }
  only_.reset();
  if (!users_.empty()) {
    const Real clock = picoseconds(now - free_since_);
    if (clock > clock_) {
      drain(clock - clock_);
    }
    clock_ = clock;
  }
  if (users_.empty()) {
    free_since_ = now;
    clock_ = 0;
    only_ = use;
    return now + std::min(time_alone(use), Time::max() - now);
  }
  seat(use);
  return std::nullopt;
}

void PortQueue::seat(const Use& use) {
  const Real load = picoseconds(use.load);
  users_.push_back({.collective = use.collective,
                    .weight = use.weight,
                    .cap = use.alone > use.load ? load / picoseconds(use.alone) : 1,
                    .left = load});
}

void PortQueue::drain(Real duration) {
  if (users_.size() == 1) {  // what happens most
    users_[0].left -= duration * users_[0].cap;
    if (users_[0].left <= kExact * users_[0].cap) {
      users_.clear();
    }
    return;
  }
  Draining draining(users_);
  draining.run(duration);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < users_.size(); ++i) {
    if (!draining.is_gone(static_cast<int>(i))) {
      users_[i].left = draining.left(static_cast<int>(i));
      users_[kept++] = users_[i];
    }
  }
  users_.resize(kept);
}

void PortQueue::settle() {
  if (only_) {
    seat(*only_);
    only_.reset();
  }
  if (users_.size() == 1) {
    users_[0].end = round_up(free_since_, clock_ + users_[0].left / users_[0].cap);
    return;
  }
  Draining draining(users_);
  draining.run(kNever);
  for (int i = 0; i < std::ssize(users_); ++i) {
    users_[i].end = round_up(free_since_, clock_ + draining.end(i));
  }
  std::ranges::sort(
      users_, {}, [](const User& user) { return std::tuple(user.end, user.collective); });
}

}  // namespace moesim
