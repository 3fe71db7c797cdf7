#pragma once

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace moesim::validation {

// A grid's points have the numbers 0, 1, …: takes the value on one axis off a number and leaves the
// number of the rest, zero behind the last axis. The first axis taken varies fastest.
template <typename Value, std::size_t kCount>
Value take(int& number, const std::array<Value, kCount>& axis) {
  const int count = static_cast<int>(kCount);
  const int index = std::exchange(number, number / count) % count;
  return axis[static_cast<std::size_t>(index)];
}

// All points of a grid, in the order of their numbers: `set(point, number)` takes every axis.
template <typename Point, typename Set>
std::vector<Point> grid_points(const Set& set) {
  std::vector<Point> points;
  for (int index = 0;; ++index) {
    int number = index;
    Point point;
    set(point, number);
    if (number != 0) {  // there are no more
      return points;
    }
    points.push_back(point);
  }
}

}  // namespace moesim::validation
