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
  static constexpr Time from_seconds(double seconds) {
    return from_rounded(seconds * kPicosecondsPerSecond);
  }

  [[nodiscard]] constexpr std::int64_t picoseconds() const { return picoseconds_; }
  [[nodiscard]] constexpr double seconds() const {
    return static_cast<double>(picoseconds_) / kPicosecondsPerSecond;
  }
  // This time multiplied by `factor`, rounded to the nearest picosecond.
  [[nodiscard]] constexpr Time scaled(double factor) const {
    return from_rounded(static_cast<double>(picoseconds_) * factor);
  }

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

  // What is left of a double that its whole part is taken from is exact. In line, for the engine
  // does this for each link of each collective.
  static constexpr Time from_rounded(double picoseconds) {
    // 2^63 is the first double that does not fit; NaN fails the comparison too.
    CHECK(-0x1p63 < picoseconds && picoseconds < 0x1p63, "{} ps is no time that fits", picoseconds);
    const auto whole = static_cast<std::int64_t>(picoseconds);  // towards zero
    const double rest = picoseconds - static_cast<double>(whole);
    return Time(whole + (rest >= 0.5 ? 1 : 0) - (rest <= -0.5 ? 1 : 0));
  }

  std::int64_t picoseconds_ = 0;
};

// part / whole as a plain number; whole must not be zero.
double ratio(Time part, Time whole);

// "1500 ps", for test failures and debugging. format_time (sim/base/units.h) is for people.
std::ostream& operator<<(std::ostream& out, Time time);

}  // namespace moesim
