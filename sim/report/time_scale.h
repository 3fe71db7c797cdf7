#pragma once

#include <vector>

#include "sim/analysis/intervals.h"
#include "sim/base/time.h"

namespace moesim {

// Where a timeline shows which moment: one or several windows of time side by side, at one scale,
// with a gap between them.
class TimeScale {
 public:
  // `windows` are in time order and disjoint; the scale fills [left, left + width].
  TimeScale(std::vector<Interval> windows, double left, double width);

  const std::vector<Interval>& windows() const { return windows_; }

  // The place of a moment of the window.
  double x(std::size_t window, Time time) const;

  // Round moments of the window at which to label the axis, at least `spacing` apart.
  std::vector<Time> ticks(std::size_t window, double spacing) const;
  // How far such moments are apart.
  Time tick_step(double spacing) const;

  static constexpr double kGap = 36;

 private:
  std::vector<Interval> windows_;
  std::vector<double> left_;  // [window]
  double per_picosecond_ = 0;
};

// The part of an interval that a window shows; empty (end <= begin) when none.
Interval clipped(const Interval& interval, const Interval& window);

}  // namespace moesim
