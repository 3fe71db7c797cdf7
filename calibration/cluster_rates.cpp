#include "calibration/cluster_rates.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "sim/base/message.h"
#include "sim/collective/cost_curve.h"
#include "sim/collective/layout_laws.h"
#include "sim/collective/ring_rate.h"

namespace moesim {
namespace {

// Measured over allowed. More than links carry is a mistake somewhere but for rounding; less than a
// quarter is what NCCL's default settings reach on networks that need others (docs/calibration.md).
constexpr double kMost = 1.02;
constexpr double kLeast = 0.25;
// A size whose start-up is a larger part of its time than this says little of links.
constexpr double kStartupShare = 0.2;

// Bytes a second, the highest of any size.
double best_rate(const CollectiveCost& cost) {
  double best = 0;
  for (const MeasuredPoint& point : cost.points) {
    best = std::max(best, static_cast<double>(point.size) / point.seconds);
  }
  return best;
}

bool shows_links(const CollectiveCost& cost) {
  return startup_seconds(cost, cost.group_size) < kStartupShare * cost.points.back().seconds;
}

std::string warning_of(const Cluster& cluster, const CollectiveCost& cost, const Layout& layout) {
  const double used = best_rate(cost) * least_seconds_per_byte(cluster, cost.operation, layout);
  const bool is_more = used > kMost;
  const bool is_less = used > 0 && used < kLeast && shows_links(cost);
  if (!is_more && !is_less) {
    return {};
  }
  return fmt::format(
      "{} on {} reached {:.4g} GB/s, {:.1f} % of what links of cluster '{}' allow; {}",
      to_string(cost.operation),
      to_string(layout),
      1e-9 * best_rate(cost),
      100 * used,
      visible_in_line(cluster.name),
      is_more ? "give the cluster that it ran on, or mend its rates"
              : "if it is the cluster that it ran on, see to NCCL's settings there");
}

}  // namespace

std::vector<std::string> rate_warnings(const Cluster& cluster, const Profile& profile) {
  std::vector<std::string> warnings;
  for (const CollectiveCost& cost : profile.collectives) {
    const std::optional<Layout> layout = layout_of(cost);
    if (!layout || cost.points.empty()) {
      continue;
    }
    std::string warning = warning_of(cluster, cost, *layout);
    if (!warning.empty()) {
      warnings.push_back(std::move(warning));
    }
  }
  return warnings;
}

void state_rates(const Cluster& cluster, Profile& profile) {
  if (cluster.intra_node.bytes_per_second > 0) {
    profile.intra_node_rate = cluster.intra_node.bytes_per_second;
  }
  if (cluster.inter_node.bytes_per_second > 0) {
    profile.inter_node_rate = cluster.inter_node.bytes_per_second;
  }
  for (CollectiveCost& cost : profile.collectives) {
    const std::optional<Layout> layout = layout_of(cost);
    const bool is_ring =
        resolved(cost.operation, cost.algorithm) == resolved(cost.operation, Algorithm::kDefault);
    cost.ring_bytes_per_second =
        layout && is_ring ? ring_rate(cluster, cost.operation, *layout) : 0;
  }
}

}  // namespace moesim
