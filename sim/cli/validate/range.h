#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>

namespace moesim::validation {

// Smallest, mean and largest of numbers added one by one.
class Range {
 public:
  void add(double value) {
    least_ = std::min(least_, value);
    largest_ = std::max(largest_, value);
    sum_ += value;
    ++count_;
  }

  [[nodiscard]] int count() const { return count_; }
  [[nodiscard]] double least() const { return least_; }
  [[nodiscard]] double mean() const { return sum_ / std::max(1, count_); }
  [[nodiscard]] double largest() const { return largest_; }

 private:
  double least_ = std::numeric_limits<double>::infinity();
  double largest_ = -std::numeric_limits<double>::infinity();
  double sum_ = 0;
  int count_ = 0;
};

}  // namespace moesim::validation
