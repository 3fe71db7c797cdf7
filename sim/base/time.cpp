#include "sim/base/time.h"

#include <cmath>
#include <ostream>

namespace moesim {
namespace {

Time from_rounded(double picoseconds) {
  // 2^63 is the first double that does not fit; NaN fails the comparison too.
  CHECK(std::abs(picoseconds) < 0x1p63, "{} ps is no time that fits", picoseconds);
  return Time::from_picoseconds(std::llround(picoseconds));
}

}  // namespace

Time Time::from_seconds(double seconds) {
  return from_rounded(seconds * kPicosecondsPerSecond);
}

Time Time::scaled(double factor) const {
  return from_rounded(static_cast<double>(picoseconds_) * factor);
}

double ratio(Time part, Time whole) {
  CHECK(whole != Time::zero());
  return static_cast<double>(part.picoseconds()) / static_cast<double>(whole.picoseconds());
}

std::ostream& operator<<(std::ostream& out, Time time) {
  return out << time.picoseconds() << " ps";
}

}  // namespace moesim
