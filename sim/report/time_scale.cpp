#include "sim/report/time_scale.h"

#include <algorithm>
#include <utility>

#include "sim/base/check.h"

namespace moesim {

TimeScale::TimeScale(std::vector<Interval> windows, double left, double width)
    : windows_(std::move(windows)) {
  CHECK(!windows_.empty());
  const Time shown = total_length(windows_);
  CHECK(shown > Time::zero(), "a timeline of no length");
  const double room = width - kGap * static_cast<double>(windows_.size() - 1);
  per_picosecond_ = room / static_cast<double>(shown.picoseconds());
  for (const Interval& window : windows_) {
    left_.push_back(left);
    left += per_picosecond_ * static_cast<double>((window.end - window.begin).picoseconds()) + kGap;
  }
}

double TimeScale::x(std::size_t window, Time time) const {
  const Time since_begin = time - windows_.at(window).begin;
  return left_[window] + per_picosecond_ * static_cast<double>(since_begin.picoseconds());
}

// 1, 2 or 5 times a power of ten picoseconds.
Time TimeScale::tick_step(double spacing) const {
  std::int64_t power = 1;
  for (;;) {
    for (const std::int64_t factor : {1, 2, 5}) {
      if (per_picosecond_ * static_cast<double>(factor * power) >= spacing) {
        return Time::from_picoseconds(factor * power);
      }
    }
    power *= 10;
  }
}

std::vector<Time> TimeScale::ticks(std::size_t window, double spacing) const {
  const std::int64_t step = tick_step(spacing).picoseconds();
  const Interval& shown = windows_.at(window);
  const std::int64_t first = (shown.begin.picoseconds() + step - 1) / step;
  const std::int64_t last = shown.end.picoseconds() / step;
  std::vector<Time> moments;
  for (std::int64_t i = first; i <= last; ++i) {
    moments.push_back(Time::from_picoseconds(i * step));
  }
  return moments;
}

Interval clipped(const Interval& interval, const Interval& window) {
  return {std::max(interval.begin, window.begin), std::min(interval.end, window.end)};
}

}  // namespace moesim
