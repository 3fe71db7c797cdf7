#include "sim/collective/layout_model.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "sim/base/error.h"
#include "sim/base/message.h"
#include "sim/collective/cost_curve.h"

namespace moesim {
namespace {

// Of the logarithm, for each unit of ln(ranks) [assumed].
const double kUncheckedSpread = std::log(1.3) / std::log(4);
constexpr double kQuantile = 0.9;
// A transfer this much longer than its start-up shows what links carry.
constexpr double kTransferShare = 0.8;

// What tells two layouts of a kind apart.
int extent(const Layout& layout) {
  return layout.nodes == 1 ? layout.gpus_per_node : layout.nodes;
}

double distance(const Layout& one, const Layout& other) {
  return std::abs(std::log(static_cast<double>(extent(one)) / extent(other)));
}

bool is_beyond(const MeasuredLayout& measured, double bytes) {
  return !measured.cost->points.empty() && extrapolates(measured.cost->points, bytes);
}

double quantile_of(std::vector<double> values, double fraction) {
  std::sort(values.begin(), values.end());
  const auto last = static_cast<double>(values.size() - 1);
  return values[static_cast<std::size_t>(std::lround(fraction * last))];
}

void widen(LayoutEstimate& estimate, double spread) {
  estimate.low = std::min(estimate.low, estimate.seconds * std::exp(-spread));
  estimate.high = std::max(estimate.high, estimate.seconds * std::exp(spread));
}

}  // namespace

LayoutModel::LayoutModel(const Profile& profile,
                         CollectiveOperation operation,
                         std::optional<Algorithm> algorithm)
    : profile_name_(profile.name), operation_(operation) {
  for (const CollectiveCost& cost : profile.collectives) {
    const std::optional<Layout> layout = layout_of(cost);
    const bool is_asked_for =
        !algorithm || resolved(operation, cost.algorithm) == resolved(operation, *algorithm);
    if (cost.operation == operation && layout && !cost.only_startup && is_asked_for) {
      measured_.push_back({*layout, &cost});
    }
  }
}

std::optional<LayoutEstimate> LayoutModel::find(const Layout& layout, double bytes) const {
  const std::vector<MeasuredLayout> alike = kin(layout);
  if (!alike.empty() && alike.front().layout == layout) {
    return from_itself(alike.front(), bytes);
  }
  return alike.empty() ? from_two_levels(layout, bytes) : from_kin(alike, layout, bytes);
}

LayoutEstimate LayoutModel::estimate(const Layout& layout, double bytes) const {
  if (const std::optional<LayoutEstimate> found = find(layout, bytes)) {
    return *found;
  }
  std::vector<std::string> known;
  for (const MeasuredLayout& measured : measured_) {
    known.push_back(to_string(measured.layout));
  }
  throw Error(fmt::format(
      "profile '{}' does not tell what {} takes on {}: it has {}; give a log of as many GPUs on "
      "each of several nodes, or one of a node and one of a GPU on each of several nodes",
      visible_in_line(profile_name_),
      to_string(operation_),
      to_string(layout),
      known.empty() ? fmt::format("no figure for {}", to_string(operation_))
                    : fmt::format("{}", fmt::join(known, ", "))));
}

// Layouts of the same kind, the nearest first.
std::vector<MeasuredLayout> LayoutModel::kin(const Layout& layout) const {
  std::vector<MeasuredLayout> alike;
  for (const MeasuredLayout& measured : measured_) {
    const bool is_kin =
        layout.nodes == 1
            ? measured.layout.nodes == 1
            : measured.layout.nodes > 1 && measured.layout.gpus_per_node == layout.gpus_per_node;
    if (is_kin) {
      alike.push_back(measured);
    }
  }
  std::stable_sort(
      alike.begin(), alike.end(), [&](const MeasuredLayout& a, const MeasuredLayout& b) {
        return distance(a.layout, layout) < distance(b.layout, layout);
      });
  return alike;
}

LawTime LayoutModel::law(const MeasuredLayout& from,
                         const Layout& to,
                         double bytes,
                         double congestion) const {
  const auto congested = [&](LawTerms terms) {
    terms.scale *= congestion;
    return terms.at(from, bytes);
  };
  const LawTime ring = congested(more_steps(operation_, from, place_on(to)));
  if (!may_be_tree(from)) {
    return ring;
  }
  const LawTime tree = congested(deeper_tree(from, place_on(to)));
  return tree.seconds() < ring.seconds() ? tree : ring;
}

// How the law from `other` holds at the sizes that `nearest` was measured at.
LayoutModel::Check LayoutModel::check(const MeasuredLayout& nearest,
                                      const MeasuredLayout& other) const {
  const double step = distance(nearest.layout, other.layout);
  const double sign = extent(nearest.layout) > extent(other.layout) ? 1 : -1;
  std::vector<double> left;
  std::vector<double> shares;
  std::vector<double> of_transfers;
  for (const MeasuredPoint& point : nearest.cost->points) {
    const LawTime said = law(other, nearest.layout, static_cast<double>(point.size));
    left.push_back(sign * std::log(point.seconds / said.seconds()));
    shares.push_back(said.transfer / said.seconds());
    if (shares.back() > kTransferShare) {
      of_transfers.push_back(left.back());
    }
  }
  if (left.empty()) {
    return {.congestion_exponent = 0, .spread = kUncheckedSpread};
  }
  Check check;
  if (!of_transfers.empty() && nearest.layout.nodes > 1) {
    check.congestion_exponent = std::max(0.0, quantile_of(of_transfers, 0.5) / step);
  }
  for (std::size_t i = 0; i < left.size(); ++i) {
    left[i] = std::abs(left[i] - check.congestion_exponent * step * shares[i]);
  }
  check.spread = quantile_of(left, kQuantile) / step;
  return check;
}

LayoutModel::Check LayoutModel::check_of(const std::vector<MeasuredLayout>& kin) const {
  if (kin.size() < 2) {
    return {.congestion_exponent = 0, .spread = kUncheckedSpread};
  }
  return check(kin[0], kin[1]);
}

double LayoutModel::congestion(const Layout& layout) const {
  return congestion(kin(layout), layout);
}

double LayoutModel::congestion(const std::vector<MeasuredLayout>& kin, const Layout& layout) const {
  if (kin.size() < 2) {
    return 1;
  }
  const Layout& nearest = kin.front().layout;
  const double sign = extent(layout) > extent(nearest) ? 1 : -1;
  return std::exp(sign * check_of(kin).congestion_exponent * distance(layout, nearest));
}

LayoutEstimate LayoutModel::from_itself(const MeasuredLayout& itself, double bytes) const {
  LayoutEstimate estimate;
  estimate.seconds = estimate.low = estimate.high = itself.seconds(bytes);
  estimate.basis = "measured";
  estimate.extrapolated = is_beyond(itself, bytes);
  if (estimate.extrapolated) {
    // Between a time that does not change with the size, and one in proportion to it.
    const std::vector<MeasuredPoint>& points = itself.cost->points;
    const bool is_below = bytes < static_cast<double>(points.front().size);
    const MeasuredPoint& end = is_below ? points.front() : points.back();
    const double in_proportion = end.seconds * bytes / static_cast<double>(end.size);
    estimate.low = std::min({estimate.seconds, in_proportion, end.seconds});
    estimate.high = std::max({estimate.seconds, in_proportion, end.seconds});
    estimate.basis = "beyond the measured sizes";
  }
  return estimate;
}

LayoutEstimate LayoutModel::from_kin(const std::vector<MeasuredLayout>& kin,
                                     const Layout& layout,
                                     double bytes) const {
  const MeasuredLayout& nearest = kin.front();
  const Check check = check_of(kin);
  const double step = distance(layout, nearest.layout);
  LayoutEstimate estimate;
  estimate.seconds = estimate.low = estimate.high =
      law(nearest, layout, bytes, congestion(kin, layout)).seconds();
  estimate.extrapolated = true;
  estimate.basis = fmt::format("from {} by more steps", to_string(nearest.layout));
  widen(estimate, check.spread * step);
  return estimate;
}

std::optional<LayoutEstimate> LayoutModel::from_two_levels(const Layout& layout,
                                                           double bytes) const {
  const std::vector<MeasuredLayout> inside = kin({1, layout.gpus_per_node});
  const std::vector<MeasuredLayout> between = kin({layout.nodes, 1});
  if (layout.nodes == 1 || inside.empty() || between.empty()) {
    return std::nullopt;
  }
  const Composition parts = composed(operation_, inside.front(), between.front(), layout, bytes);
  const Check check = check_of(between);
  const double step = distance({layout.nodes, 1}, between.front().layout);
  LayoutEstimate estimate;
  estimate.seconds = parts.seconds(congestion(between, {layout.nodes, 1}));
  estimate.low = std::min(parts.low, estimate.seconds);
  estimate.high = std::max(parts.high, estimate.seconds);
  estimate.extrapolated = true;
  estimate.basis = fmt::format(
      "from {} and {}", to_string(inside.front().layout), to_string(between.front().layout));
  // Nothing checks how the two levels work together.
  const double more_ranks =
      std::log(static_cast<double>(layout.size()) / between.front().layout.size());
  widen(estimate, check.spread * step + kUncheckedSpread * std::abs(more_ranks));
  return estimate;
}

}  // namespace moesim
