#include "sim/collective/entry_choice.h"

#include <cstdlib>
#include <tuple>

#include "sim/collective/cost_curve.h"

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

// The less, the better it fits.
std::tuple<int, int, bool> distance(const CollectiveCost& entry, const EntryQuery& query) {
  constexpr int kNotStated = 1 << 30;
  return {entry.group_size > 1 ? std::abs(entry.group_size - query.size) : kNotStated,
          entry.num_nodes > 0 ? std::abs(entry.num_nodes - query.nodes) : kNotStated,
          query.algorithm && !was_measured_with(entry, *query.algorithm)};
}

}  // namespace

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

}  // namespace moesim
