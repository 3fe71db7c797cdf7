#include "sim/base/time.h"

#include <ostream>

namespace moesim {
double ratio(Time part, Time whole) {
  CHECK(whole != Time::zero());
  return static_cast<double>(part.picoseconds()) / static_cast<double>(whole.picoseconds());
}

std::ostream& operator<<(std::ostream& out, Time time) {
  return out << time.picoseconds() << " ps";
}

}  // namespace moesim
