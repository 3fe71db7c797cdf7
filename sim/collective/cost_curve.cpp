#include "sim/collective/cost_curve.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "sim/base/check.h"
#include "sim/base/error.h"

namespace moesim {
namespace {

// A start-up that was shared out over peers comes back with errors of this size, relative.
constexpr double kRounding = 1e-9;

// What two points exceed the start-up by, at `size`: the line through them in the log-log plane;
// where the first does not exceed it, which has no logarithm, the line through them.
double on_line(const MeasuredPoint& a, const MeasuredPoint& b, double startup, double size) {
  const double first = std::max(0.0, a.seconds - startup);
  const double second = std::max(0.0, b.seconds - startup);
  const auto least = static_cast<double>(a.size);
  const auto most = static_cast<double>(b.size);
  if (size == most) {
    return second;
  }
  if (first <= kRounding * startup) {
    return second * (size - least) / (most - least);
  }
  const double slope = std::log(second / first) / std::log(most / least);
  return first * std::pow(size / least, slope);
}

}  // namespace

Time checked_time(double seconds, std::string_view what) {
  constexpr double kTenDays = 10 * 86400;
  if (!(seconds <= kTenDays)) {
    throw Error(fmt::format(
        "{} would take {:.3g} s, more than ten days; check its size and the profile's rates",
        what,
        seconds));
  }
  return Time::from_seconds(seconds);
}

double wire_share(CollectiveOperation operation, int size) {
  const double others = static_cast<double>(size - 1) / size;
  switch (operation) {
    case CollectiveOperation::kAllToAll:
    case CollectiveOperation::kAllGather:
    case CollectiveOperation::kReduceScatter:
      return others;
    case CollectiveOperation::kAllReduce:
      return 2 * others;
    case CollectiveOperation::kShift:
    case CollectiveOperation::kBroadcast:
      return 1;
  }
  return 1;
}

double startup_seconds(const CollectiveCost& entry, int size) {
  const int times = entry.startup_per == StartupPer::kPeer ? size - 1 : 1;
  return entry.startup_seconds * times;
}

double interpolate(const std::vector<MeasuredPoint>& points, double size, double startup) {
  CHECK(!points.empty());
  const MeasuredPoint& least = points.front();
  const auto least_size = static_cast<double>(least.size);
  if (points.size() == 1 || (startup > 0 && size < least_size)) {  // keeps its rate
    return startup + std::max(0.0, least.seconds - startup) * size / least_size;
  }
  const auto after = std::lower_bound(
      points.begin() + 1, points.end() - 1, size, [](const MeasuredPoint& point, double wanted) {
        return static_cast<double>(point.size) < wanted;
      });
  return startup + on_line(*(after - 1), *after, startup, size);
}

bool extrapolates(const std::vector<MeasuredPoint>& points, double size) {
  CHECK(!points.empty());
  return size < static_cast<double>(points.front().size) ||
         size > static_cast<double>(points.back().size);
}

double transfer_seconds(const CollectiveCost& entry, double bytes, int measured_size) {
  if (entry.points.empty()) {
    return entry.seconds_per_byte * bytes;
  }
  if (bytes <= 0) {
    return 0;
  }
  const double startup = startup_seconds(entry, measured_size);
  return interpolate(entry.points, bytes, startup) - startup;
}

}  // namespace moesim
