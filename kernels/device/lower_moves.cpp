#include "kernels/device/lower_moves.h"

#include <algorithm>
#include <map>
#include <utility>

#include "kernels/device/pieces.h"

namespace moesim {
namespace {

// Elements of a target and what they become: the sum of their sources in order.
struct Target {
  Elements to;
  int64_t count = 0;
  std::vector<Elements> sources;
};

// Turns moves, one behind the other, into targets that do not overlap: each element of memory is
// then written once.
class TargetMap {
 public:
  void apply(const ElementRun& from, const Elements& to, bool add) {
    const ElementRun target{to, from.count};
    cut(target.at.address);
    cut(target.end());
    DeviceAddress at = to.address;
    auto next = targets_.lower_bound(at);
    while (at < target.end()) {
      if (next == targets_.end() || next->first > at) {  // nobody has written here yet
        const DeviceAddress end =
            next == targets_.end() ? target.end() : std::min(next->first, target.end());
        next = targets_.emplace_hint(next, at, unwritten({at, to.type}, end, add));
      }
      Target& own = next->second;
      if (!add) {
        own.sources.clear();
      }
      own.sources.push_back(from.at.from(elements(to.address, at, to.type)));
      at = ElementRun{own.to, own.count}.end();
      ++next;
    }
  }

  PieceList pieces() const {
    PieceList pieces;
    for (const auto& [address, target] : targets_) {
      pieces.add({target.to, target.count}, target.sources);
    }
    return pieces;
  }

 private:
  static int64_t elements(DeviceAddress begin, DeviceAddress end, ElementType type) {
    return static_cast<int64_t>(end - begin) / size_of(type);
  }

  // What is added to where nothing has been written adds to what stands there.
  static Target unwritten(const Elements& to, DeviceAddress end, bool add) {
    return {
        to, elements(to.address, end, to.type), add ? std::vector{to} : std::vector<Elements>{}};
  }

  // Makes a target begin at the address where one stands across it.
  void cut(DeviceAddress address) {
    auto after = targets_.upper_bound(address);
    if (after == targets_.begin()) {
      return;
    }
    Target& left = std::prev(after)->second;
    if (left.to.address == address || ElementRun{left.to, left.count}.end() <= address) {
      return;
    }
    const int64_t kept = elements(left.to.address, address, left.to.type);
    Target right{left.to.from(kept), left.count - kept, {}};
    for (const Elements& source : left.sources) {
      right.sources.push_back(source.from(kept));
    }
    left.count = kept;
    targets_.emplace_hint(after, address, std::move(right));
  }

  std::map<DeviceAddress, Target> targets_;
};

bool is_meant(int member, const RowAddress& row) {
  return member == kNone || member == row.member;
}

}  // namespace

Elements row_address(const MoveSite& site, const RowAddress& row, LoweringSpace& space) {
  const int rank = site.ranks[static_cast<size_t>(row.member)];
  if (row.tensor != kNone) {
    return space.tensor(rank, row.tensor, row.row);
  }
  const int64_t bytes = site.plan->scratch_rows * site.plan->columns * size_of(site.scratch_type);
  const Elements scratch{space.shared_scratch({rank, site.stream}, bytes), site.scratch_type};
  return scratch.from(row.row * site.plan->columns);
}

std::vector<DeviceStep> lower_clears(const MoveSite& site, int member, LoweringSpace& space) {
  std::vector<DeviceStep> steps;
  for (const Clear& clear : site.plan->clears) {
    if (is_meant(member, clear.rows) && clear.count > 0) {
      const Elements first = row_address(site, clear.rows, space);
      const int64_t elements = clear.count * site.plan->columns;
      steps.push_back(fill_step({first.address, elements * size_of(first.type), 0}));
    }
  }
  return steps;
}

std::vector<DeviceStep> lower_moves(const MoveSite& site,
                                    int step,
                                    int member,
                                    LoweringSpace& space) {
  TargetMap targets;
  for (const Move& move : site.plan->steps.at(static_cast<size_t>(step))) {
    if (is_meant(member, move.to)) {
      targets.apply({row_address(site, move.from, space), move.rows * site.plan->columns},
                    row_address(site, move.to, space),
                    move.add);
    }
  }
  const PieceList pieces = targets.pieces();
  if (pieces.empty()) {
    return {};
  }
  return {pieces.step(Combination::kSum, Rounding::kOff, space)};
}

}  // namespace moesim
