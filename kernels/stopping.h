#pragma once

#include <optional>
#include <vector>

#include "sim/base/time.h"

namespace moesim {

// How often something is repeated: at least `least` times; then until the median is known to
// `spread`, but at most `most` times. The same number twice: exactly so often.
struct StoppingRule {
  int least = 10;
  int most = 10;
  double spread = 0.01;
};

// Why it ended.
enum class Stop {
  kSteady,    // the median is known well enough
  kMost,      // it is not after the largest number of times
  kDisturbed  // the machine disturbed too many runs
};

const char* to_string(Stop stop);  // "steady", "most", "disturbed"

// How well the median of these times is known: half the width of its confidence interval, relative
// to the median. Nothing for fewer than six times, which have no such interval.
//
// The interval reaches from the k-th smallest time to the k-th largest, with the largest k for
// which it misses the distribution's median with a probability of at most 5 %, whatever that
// distribution is: 2 P(B < k) <= 0.05, B ~ Binomial(n, 1/2). (David and Nagaraja, Order Statistics,
// 2003, section 7.1; Hoefler and Belli, Scientific Benchmarking of Parallel Computing Systems,
// 2015, section 3.1.3, recommend it for times, which are not normally distributed.)
// Limits: times are taken to be independent, and looking again after each one makes an early end a
// little likelier than 5 % say.
std::optional<double> median_spread(std::vector<Time> times);

// Whether these are enough, and why; nothing where it goes on. Too many disturbed runs are for the
// caller to see.
std::optional<Stop> reason_to_stop(const StoppingRule& rule, const std::vector<Time>& times);

}  // namespace moesim
