#include "sim/program/access_list.h"

#include <algorithm>
#include <limits>

namespace moesim {

void AccessList::add(const Access& access) {
  const Footprint& where = access.where;
  const auto fits = [&](const Lane& lane) {
    return lane.frame == where.frame && lane.all_blocks == where.all_blocks();
  };
  auto lane = std::find_if(lanes_.begin(), lanes_.end(), fits);
  if (lane == lanes_.end()) {
    lanes_.push_back({where.frame, where.all_blocks(), 0, {}});
    lane = lanes_.end() - 1;
  }
  lane->widest = std::max(lane->widest, where.num_blocks);
  lane->accesses.emplace(where.first_block, access);
}

// On the circle of a run, [first, first + num) meets what begins in it, or begins less than the
// widest before it. `visit` may erase the place that it is called with.
template <typename Visit>
void AccessList::visit_near(Lane& lane, const Footprint& where, Visit visit) {
  const auto visit_between = [&](int first, int end) {
    const auto last = lane.accesses.lower_bound(end);
    for (auto place = lane.accesses.lower_bound(first); place != last;) {
      visit(place++);
    }
  };
  const int run = where.run_blocks;
  const int first = where.first_block - lane.widest + 1;
  const int end = where.first_block + where.num_blocks;
  if (lane.all_blocks || where.all_blocks() || lane.frame != where.frame || end - first >= run) {
    visit_between(0, std::numeric_limits<int>::max());
    return;
  }
  visit_between(std::max(first, 0), std::min(end, run));
  if (first < 0) {
    visit_between(first + run, run);
  }
  if (end > run) {
    visit_between(0, end - run);
  }
}

const std::vector<const Access*>& AccessList::near(const Footprint& where) {
  near_.clear();
  for (Lane& lane : lanes_) {
    visit_near(lane, where, [&](Place place) { near_.push_back(&place->second); });
  }
  std::stable_sort(near_.begin(), near_.end(), [](const Access* left, const Access* right) {
    return left->task < right->task;
  });
  return near_;
}

void AccessList::erase_near_if(const Footprint& where,
                               const std::function<bool(const Access&)>& drop) {
  for (Lane& lane : lanes_) {
    visit_near(lane, where, [&](Place place) {
      if (drop(place->second)) {
        lane.accesses.erase(place);
      }
    });
  }
}

}  // namespace moesim
