#include "kernels/global_tensor.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "sim/base/check.h"
#include "sim/base/error.h"
#include "sim/program/role_table.h"

namespace moesim {
namespace {

int group_size(const Program& program, int group) {
  return static_cast<int>(program.groups[group].members.front().size());
}

// The index among the members of each group that the tensor is partial over.
std::vector<int> partial_indices(const Program& program,
                                 const GroupTable& groups,
                                 int tensor,
                                 int rank) {
  std::vector<int> indices;
  for (const Placement& placement : program.tensors[tensor].placement) {
    if (placement.axis == PlacementAxis::kPartial) {
      indices.push_back(groups.index(placement.group, rank));
    }
  }
  return indices;
}

bool touches(const std::vector<Region>& regions, int tensor) {
  return std::ranges::any_of(regions,
                             [tensor](const Region& region) { return region.tensor == tensor; });
}

// By rank, whether one of its tasks reads or writes the tensor.
std::vector<bool> users(const Program& program, int tensor) {
  const RoleTable roles(program);
  std::vector<bool> uses(static_cast<size_t>(program.num_ranks), false);
  for (const Task& task : program.tasks) {
    if (!touches(task.reads, tensor) && !touches(task.writes, tensor)) {
      continue;
    }
    for (const int role : roles.running(task)) {
      for (const int rank : roles.ranks(role)) {
        uses[static_cast<size_t>(rank)] = true;
      }
    }
  }
  const bool unused = std::ranges::find(uses, true) == uses.end();
  return unused ? std::vector<bool>(uses.size(), true) : uses;
}

// One row of a block of a rank's buffer in the global tensor.
class Assembly {
 public:
  Assembly(const TensorStore& store, int tensor)
      : store_(store), tensor_(tensor), shape_(global_shape(store.program(), tensor)) {
    groups_.update(store.program());
    result_.resize(static_cast<size_t>(shape_.blocks * shape_.rows * shape_.columns));
  }

  std::vector<float> run() && {
    const std::vector<bool> uses = users(store_.program(), tensor_);
    for (const int rank : store_.ranks()) {
      if (!uses[static_cast<size_t>(rank)]) {
        continue;
      }
      const BufferPlace place = place_of(store_.program(), groups_, tensor_, rank);
      const auto part = std::pair{place.first_block, place.first_row};
      const auto indices = partial_indices(store_.program(), groups_, tensor_, rank);
      const auto [first, is_new] = holders_[part].emplace(indices, rank);
      if (is_new) {
        add(rank, place, holders_[part].size() > 1);
      } else {
        compare(first->second, rank);
      }
    }
    return std::move(result_);
  }

 private:
  const Tensor& tensor() const { return store_.program().tensors[tensor_]; }

  void add(int rank, const BufferPlace& place, bool to_sum) {
    const int64_t length = int64_t{tensor().rows} * tensor().columns;
    for (int block = 0; block < tensor().blocks; ++block) {
      const int64_t first = int64_t{block} * tensor().rows;
      const float* from = store_.values(rank, tensor_, first);
      float* to = result_.data() + global_row(shape_, place, tensor().rows, first) * shape_.columns;
      for (int64_t i = 0; i < length; ++i) {
        to[i] = to_sum ? to[i] + from[i] : from[i];
      }
    }
  }

  void compare(int first, int rank) const {
    if (!std::ranges::equal(store_.contents(first, tensor_), store_.contents(rank, tensor_))) {
      throw Error(
          fmt::format("ranks {} and {} hold different copies of '{}'; the Program lacks a "
                      "reduction of it or a wait",
                      first,
                      rank,
                      tensor().name));
    }
  }

  const TensorStore& store_;
  int tensor_;
  GlobalShape shape_;
  GroupTable groups_;
  std::vector<float> result_;
  // By part of the global tensor: who holds which of its partial sums first.
  std::map<std::pair<int64_t, int64_t>, std::map<std::vector<int>, int>> holders_;
};

}  // namespace

GlobalShape global_shape(const Program& program, int tensor) {
  const Tensor& local = program.tensors[tensor];
  GlobalShape shape{local.blocks, local.rows, local.columns};
  for (const Placement& placement : local.placement) {
    if (placement.axis == PlacementAxis::kBlocks) {
      shape.blocks *= group_size(program, placement.group);
    } else if (placement.axis == PlacementAxis::kRows) {
      shape.rows *= group_size(program, placement.group);
    }
  }
  return shape;
}

BufferPlace place_of(const Program& program, const GroupTable& groups, int tensor, int rank) {
  const Tensor& local = program.tensors[tensor];
  BufferPlace place;
  for (const Placement& placement : local.placement) {
    const int index = groups.index(placement.group, rank);
    CHECK(index != kNone, "rank {} is outside '{}'", rank, program.groups[placement.group].name);
    switch (placement.axis) {
      case PlacementAxis::kBlocks:
        place.first_block = place.first_block * group_size(program, placement.group) +
                            int64_t{index} * local.blocks;
        break;
      case PlacementAxis::kRows:
        place.first_row =
            place.first_row * group_size(program, placement.group) + int64_t{index} * local.rows;
        break;
      case PlacementAxis::kPartial:
        place.first_partial = place.first_partial && index == 0;
        break;
    }
  }
  return place;
}

std::vector<float> gather_tensor(const TensorStore& store, int tensor) {
  return Assembly(store, tensor).run();
}

}  // namespace moesim
