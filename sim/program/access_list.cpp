#include "sim/program/access_list.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

namespace moesim {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<int>::max();

int bits_of(int size) {
  return static_cast<int>(std::bit_width(static_cast<unsigned>(size)));
}

}  // namespace

void AccessList::add(const Access& access) {
  const Footprint& where = access.where;
  const bool by_rows = where.all_blocks();
  const Frame frame = by_rows ? Frame{} : where.frame;
  const int size = by_rows ? where.end_row - where.first_row : where.num_blocks;
  const auto fits = [&](const Lane& lane) {
    return lane.by_rows == by_rows && lane.size_bits == bits_of(size) && lane.frame == frame;
  };
  auto lane = std::find_if(lanes_.begin(), lanes_.end(), fits);
  if (lane == lanes_.end()) {
    lanes_.push_back({frame, by_rows, bits_of(size), 0, {}});
    lane = lanes_.end() - 1;
  }
  lane->largest = std::max(lane->largest, size);
  lane->accesses.emplace(by_rows ? where.first_row : where.first_block, access);
}

// [first, end) meets what begins in it, or begins less than the lane's largest size before it;
// blocks do so on the circle of a run.
template <typename Visit>
void AccessList::visit_near(Lane& lane, const Footprint& where, Visit visit) {
  const auto place_of = [&lane](std::int64_t first) {
    return lane.accesses.lower_bound(static_cast<int>(std::clamp<std::int64_t>(first, 0, kMost)));
  };
  const auto visit_between = [&](std::int64_t first, std::int64_t end) {
    const auto last = place_of(end);
    for (auto place = place_of(first); place != last;) {
      visit(place++);
    }
  };
  const std::int64_t reach = lane.largest - 1;
  if (lane.by_rows) {
    visit_between(where.first_row - reach, where.end_row);
    return;
  }
  const std::int64_t run = where.run_blocks;
  const std::int64_t first = where.first_block - reach;
  const std::int64_t end = std::int64_t{where.first_block} + where.num_blocks;
  if (where.all_blocks() || lane.frame != where.frame || end - first >= run) {
    visit_between(0, kMost);
    return;
  }
  visit_between(first, std::min(end, run));
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
