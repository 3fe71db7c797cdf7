#include "sim/collective/entry_choice.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "sim/collective/cost_curve.h"
#include "sim/collective/layout_laws.h"

namespace moesim {
namespace {

bool was_measured_with(const CollectiveCost& entry, Algorithm algorithm) {
  return resolved(entry.operation, entry.algorithm) == resolved(entry.operation, algorithm);
}

bool fits(const CollectiveCost& entry, const EntryQuery& query) {
  const bool is_for_any = entry.only_startup && entry.algorithm == Algorithm::kDefault;
  return entry.operation == query.operation && entry.span == query.span &&
         !(query.needs_transfer && entry.only_startup) &&
         (!query.algorithm || is_for_any || was_measured_with(entry, *query.algorithm));
}

// As far from 16 as 8 is 32: laws go by ratios.
double ratio(int stated, int wanted) {
  constexpr double kNotStated = 1e9;
  return stated > 0 ? std::abs(std::log(static_cast<double>(stated) / wanted)) : kNotStated;
}

// The less, the better it fits.
std::tuple<bool, double, double, bool> distance(const CollectiveCost& entry,
                                                const EntryQuery& query) {
  return {is_of_other_kind(entry, query.size, query.nodes),
          ratio(entry.group_size > 1 ? entry.group_size : 0, query.size),
          ratio(entry.num_nodes, query.nodes),
          query.algorithm && !was_measured_with(entry, *query.algorithm)};
}

}  // namespace

bool is_of_other_kind(const CollectiveCost& entry, int size, int nodes) {
  return entry.span == Span::kBoth && entry.group_size > 1 && entry.num_nodes > 0 &&
         entry.group_size * nodes != size * entry.num_nodes;
}

const CollectiveCost* find_entry(const Profile& profile, const EntryQuery& query) {
  const CollectiveCost* best = nullptr;
  for (const CollectiveCost& entry : profile.collectives) {
    if (fits(entry, query) &&
        (best == nullptr || distance(entry, query) < distance(*best, query))) {
      best = &entry;
    }
  }
  return best;
}

double startup_seconds(const CollectiveCost& entry, int size, const Steps& steps) {
  return entry.startup_per == StartupPer::kStep ? entry.startup_seconds * steps.total()
                                                : startup_seconds(entry, size);
}

double step_startup(const CollectiveCost& entry, const MemberPlace& place) {
  const std::optional<Layout> layout = layout_of(entry);
  const MemberPlace measured = layout ? place_on(*layout) : place;
  const Steps steps = steps_of(entry.operation, entry.algorithm, measured);
  return startup_seconds(entry, measured.size, steps) / std::max(1, steps.total());
}

}  // namespace moesim
