#include "kernels/stopping.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/base/check.h"

namespace moesim {
namespace {

constexpr double kMissed = 0.05;

// The largest k with 2 P(B < k) <= 0.05, B ~ Binomial(n, 1/2); 0 where there is none.
// P(B = i) = n! / (i! (n - i)!) / 2^n, by logarithms: 2^n overflows.
int interval_rank(int n) {
  double below = 0;
  int k = 0;
  for (; k < n; ++k) {
    const double log_probability =
        std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1.0) - n * std::log(2.0);
    below += std::exp(log_probability);
    if (2 * below > kMissed) {
      break;
    }
  }
  return k;
}

}  // namespace

const char* to_string(Stop stop) {
  switch (stop) {
    case Stop::kSteady:
      return "steady";
    case Stop::kMost:
      return "most";
    case Stop::kDisturbed:
      return "disturbed";
  }
  return "";
}

std::optional<double> median_spread(std::vector<Time> times) {
  const int k = interval_rank(static_cast<int>(times.size()));
  if (k == 0) {
    return std::nullopt;
  }
  std::sort(times.begin(), times.end());
  const Time median = times[(times.size() - 1) / 2];
  const Time width = times[times.size() - k] - times[k - 1];
  return median > Time::zero() ? width.seconds() / 2 / median.seconds() : 0;
}

std::optional<Stop> reason_to_stop(const StoppingRule& rule, const std::vector<Time>& times) {
  CHECK(0 < rule.least && rule.least <= rule.most, "{} to {} runs", rule.least, rule.most);
  const int number = static_cast<int>(times.size());
  if (number < rule.least) {
    return std::nullopt;
  }
  const std::optional<double> spread = median_spread(times);
  if (spread && *spread <= rule.spread) {
    return Stop::kSteady;
  }
  return number < rule.most ? std::nullopt : std::optional(Stop::kMost);
}

}  // namespace moesim
