#pragma once

#include <compare>
#include <cstdint>
#include <iosfwd>
#include <limits>

#include "sim/base/check.h"

namespace moesim {

// A point in simulated time or a duration: whole picoseconds, exact, up to 106 days.
// Integers make equal times equal and sums independent of their order. An operation that
// overflows is a programmer error (CHECK).
class Time {
 public:
  constexpr Time() = default;

  static constexpr Time zero() { return {}; }
  static constexpr Time max() { return Time(std::numeric_limits<std::int64_t>::max()); }
  static constexpr Time from_picoseconds(std::int64_t picoseconds) { return Time(picoseconds); }
  // Rounds to the nearest picosecond, halves away from zero. NaN and values that do not fit abort.
  static Time from_seconds(double seconds);

  [[nodiscard]] constexpr std::int64_t picoseconds() const { return picoseconds_; }
  [[nodiscard]] constexpr double seconds() const {
    return static_cast<double>(picoseconds_) / kPicosecondsPerSecond;
  }
  // This time multiplied by `factor`, rounded to the nearest picosecond.
  [[nodiscard]] Time scaled(double factor) const;

  friend constexpr auto operator<=>(Time, Time) = default;

  friend constexpr Time operator+(Time left, Time right) {
    std::int64_t sum = 0;
    CHECK(!__builtin_add_overflow(left.picoseconds_, right.picoseconds_, &sum));
    return Time(sum);
  }
  friend constexpr Time operator-(Time left, Time right) {
    std::int64_t difference = 0;
    CHECK(!__builtin_sub_overflow(left.picoseconds_, right.picoseconds_, &difference));
    return Time(difference);
  }
  friend constexpr Time operator*(Time time, std::int64_t factor) {
    std::int64_t product = 0;
    CHECK(!__builtin_mul_overflow(time.picoseconds_, factor, &product));
    return Time(product);
  }
  friend constexpr Time operator*(std::int64_t factor, Time time) { return time * factor; }
  // Rounds towards zero.
  friend constexpr Time operator/(Time time, std::int64_t divisor) {
    CHECK(divisor != 0);
    return Time(time.picoseconds_ / divisor);
  }

  constexpr Time& operator+=(Time other) { return *this = *this + other; }
  constexpr Time& operator-=(Time other) { return *this = *this - other; }

  static constexpr double kPicosecondsPerSecond = 1e12;

 private:
  explicit constexpr Time(std::int64_t picoseconds) : picoseconds_(picoseconds) {}

  std::int64_t picoseconds_ = 0;
};

// part / whole as a plain number; whole must not be zero.
double ratio(Time part, Time whole);

// "1500 ps", for test failures and debugging. format_time (sim/base/units.h) is for people.
std::ostream& operator<<(std::ostream& out, Time time);

}  // namespace moesim
