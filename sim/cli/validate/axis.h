#pragma once

#include <array>
#include <cstddef>
#include <utility>

namespace moesim::validation {

// A grid's points have the numbers 0, 1, …: takes the value on one axis off a number and leaves the
// number of the rest. The first axis taken varies fastest.
template <typename Value, std::size_t kCount>
Value take(int& number, const std::array<Value, kCount>& axis) {
  const int count = static_cast<int>(kCount);
  const int index = std::exchange(number, number / count) % count;
  return axis[static_cast<std::size_t>(index)];
}

}  // namespace moesim::validation
