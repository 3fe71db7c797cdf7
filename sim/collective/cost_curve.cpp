#include "sim/collective/cost_curve.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "sim/base/check.h"
#include "sim/base/error.h"

namespace moesim {
namespace {

// The line through two points of the log-log plane, at `size`.
double on_line(const MeasuredPoint& a, const MeasuredPoint& b, double size) {
  if (size == static_cast<double>(b.size)) {
    return b.seconds;
  }
  const double slope = std::log(b.seconds / a.seconds) /
                       std::log(static_cast<double>(b.size) / static_cast<double>(a.size));
  return a.seconds * std::pow(size / static_cast<double>(a.size), slope);
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

double interpolate(const std::vector<MeasuredPoint>& points, double size) {
  CHECK(!points.empty());
  if (points.size() == 1) {
    return points[0].seconds * size / static_cast<double>(points[0].size);
  }
  const auto after = std::lower_bound(
      points.begin() + 1, points.end() - 1, size, [](const MeasuredPoint& point, double wanted) {
        return static_cast<double>(point.size) < wanted;
      });
  return on_line(*(after - 1), *after, size);
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
  const auto least = static_cast<double>(entry.points.front().size);
  if (startup > 0 && bytes < least) {  // what is not start-up keeps its rate
    return std::max(0.0, entry.points.front().seconds - startup) * bytes / least;
  }
  return std::max(0.0, interpolate(entry.points, bytes) - startup);
}

}  // namespace moesim
