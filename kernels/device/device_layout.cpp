#include "kernels/device/device_layout.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/units.h"
#include "sim/program/role_table.h"

namespace moesim {

DeviceLayout::DeviceLayout(const LoweringSpace& sizes,
                           const std::vector<int>& ranks,
                           const std::vector<bool>& is_kept)
    : offsets_(sizes.program().num_ranks) {
  const Program& program = sizes.program();
  ArenaRequest request{.program = &program, .role = 0, .sizes = {}, .is_kept = is_kept};
  for (const Tensor& tensor : program.tensors) {
    request.sizes.push_back(device_bytes(tensor, sizes.storage()));
  }
  const RoleTable roles(program);
  for (request.role = 0; request.role < roles.size(); ++request.role) {
    const ArenaPlan plan = plan_arena(request);
    for (const int rank : roles.ranks(request.role)) {
      if (std::find(ranks.begin(), ranks.end(), rank) == ranks.end()) {
        continue;
      }
      const int64_t base = take(plan.bytes);
      offsets_[rank] = plan.offsets;
      for (int64_t& offset : offsets_[rank]) {
        offset += offset == kNone ? 0 : base;
      }
    }
  }
  arena_bytes_ = bytes_;
  for (const auto& [owner, bytes] : sizes.scratch_bytes()) {
    scratch_[owner] = take(bytes);
  }
  scratch_bytes_ = bytes_ - arena_bytes_;
  table_bytes_ = static_cast<int64_t>(sizes.tables().size());
  tables_ = take(table_bytes_);
}

int64_t DeviceLayout::take(int64_t bytes) {
  const int64_t offset = bytes_;
  bytes_ += device_aligned(bytes);
  return offset;
}

DeviceBases DeviceLayout::bases(DeviceAddress base) const {
  DeviceBases bases;
  for (const std::vector<int64_t>& offsets : offsets_) {
    std::vector<DeviceAddress>& tensors = bases.tensors.emplace_back();
    for (const int64_t offset : offsets) {
      tensors.push_back(offset == kNone ? 0 : base + static_cast<DeviceAddress>(offset));
    }
  }
  for (const auto& [owner, offset] : scratch_) {
    bases.scratch[owner] = base + static_cast<DeviceAddress>(offset);
  }
  bases.tables = base + static_cast<DeviceAddress>(tables_);
  return bases;
}

std::string describe(const DeviceLayout& layout, const Program& program, Storage storage) {
  constexpr size_t kNumNamed = 5;
  std::vector<int> tensors(program.tensors.size());
  std::iota(tensors.begin(), tensors.end(), 0);
  std::vector<int64_t> bytes(tensors.size());
  for (const int tensor : tensors) {
    for (int rank = 0; rank < program.num_ranks; ++rank) {
      bytes[tensor] +=
          layout.has(rank, tensor) ? device_bytes(program.tensors[tensor], storage) : 0;
    }
  }
  std::stable_sort(tensors.begin(), tensors.end(), [&](int left, int right) {
    return bytes[left] > bytes[right];
  });
  tensors.resize(std::min(tensors.size(), kNumNamed));
  std::vector<std::string> largest;
  for (const int tensor : tensors) {
    largest.push_back(
        fmt::format("{} {}", program.tensors[tensor].name, format_bytes(bytes[tensor])));
  }
  return fmt::format("tensors {} (the largest, over all ranks: {}), scratch {}, tables {}",
                     format_bytes(layout.arena_bytes()),
                     fmt::join(largest, ", "),
                     format_bytes(layout.scratch_bytes()),
                     format_bytes(layout.table_bytes()));
}

}  // namespace moesim
