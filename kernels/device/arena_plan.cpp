#include "kernels/device/arena_plan.h"

#include <algorithm>
#include <numeric>

#include "kernels/device/lowering_space.h"
#include "kernels/device/tensor_lives.h"
#include "sim/base/check.h"

namespace moesim {
namespace {

// Memory [begin, end) of a tensor that has its place.
struct Placed {
  int tensor = kNone;
  int64_t begin = 0;
  int64_t end = 0;
};

class ArenaPlanner {
 public:
  explicit ArenaPlanner(const ArenaRequest& request)
      : request_(request), lives_(*request.program, RoleTable(*request.program), request.role) {
    plan_.offsets.assign(request.sizes.size(), kNone);
  }

  ArenaPlan plan() && {
    for (const int tensor : largest_first()) {
      place(tensor);
    }
    return std::move(plan_);
  }

 private:
  std::vector<int> largest_first() const {
    std::vector<int> tensors(request_.sizes.size());
    std::iota(tensors.begin(), tensors.end(), 0);
    std::erase_if(tensors, [&](int tensor) { return !lives_.is_used(tensor); });
    std::stable_sort(tensors.begin(), tensors.end(), [&](int left, int right) {
      return request_.sizes[left] > request_.sizes[right];
    });
    return tensors;
  }

  bool may_share(int one, int other) const {
    return !request_.is_kept[one] && !request_.is_kept[other] && lives_.are_apart(one, other);
  }

  void place(int tensor) {
    const int64_t size = device_aligned(request_.sizes[tensor]);
    int64_t begin = 0;
    for (const Placed& other : placed_) {
      if (begin + size > other.begin && begin < other.end && !may_share(tensor, other.tensor)) {
        begin = other.end;
      }
    }
    plan_.offsets[tensor] = begin;
    plan_.bytes = std::max(plan_.bytes, begin + size);
    const auto behind = std::find_if(
        placed_.begin(), placed_.end(), [&](const Placed& other) { return other.begin > begin; });
    placed_.insert(behind, {tensor, begin, begin + size});
  }

  const ArenaRequest& request_;
  TensorLives lives_;
  std::vector<Placed> placed_;  // by begin
  ArenaPlan plan_;
};

}  // namespace

ArenaPlan plan_arena(const ArenaRequest& request) {
  const size_t num_tensors = request.program->tensors.size();
  CHECK(request.sizes.size() == num_tensors && request.is_kept.size() == num_tensors,
        "{} sizes and {} marks for {} tensors",
        request.sizes.size(),
        request.is_kept.size(),
        num_tensors);
  return ArenaPlanner(request).plan();
}

std::vector<bool> inputs_and_results(const Program& program) {
  std::vector<bool> is_kept(program.tensors.size());
  for (const Task& task : program.tasks) {
    for (const Region& region : task.reads) {
      is_kept[region.tensor] = false;
    }
    for (const Region& region : task.writes) {
      is_kept[region.tensor] = true;
    }
  }
  for (size_t tensor = 0; tensor < is_kept.size(); ++tensor) {
    is_kept[tensor] = is_kept[tensor] || program.tensors[tensor].input;
  }
  return is_kept;
}

}  // namespace moesim
