#pragma once

#include <algorithm>

#include "sim/base/time.h"

namespace moesim {

// When something happened in a run, and when it would have happened had this machine delayed
// nothing: had every task begun the moment it could and ended when it was to.
struct Moment {
  Time actual;
  Time undelayed;
};

inline Moment latest(const Moment& left, const Moment& right) {
  return {std::max(left.actual, right.actual), std::max(left.undelayed, right.undelayed)};
}

}  // namespace moesim
