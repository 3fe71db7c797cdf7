#include "kernels/device/lowering_space.h"

#include <algorithm>

#include "sim/base/check.h"

namespace moesim {
namespace {

// Of the i-th buffer while sizes are learnt: far from each other, so that no two seem to overlap or
// to stand together.
DeviceAddress imagined(int64_t i) {
  constexpr int kShift = 36;
  return static_cast<DeviceAddress>(i + 1) << kShift;
}

int64_t num_elements(const Tensor& tensor) {
  return int64_t{tensor.blocks} * tensor.rows * tensor.columns;
}

}  // namespace

ElementType element_type(const Tensor& tensor, Storage storage) {
  if (tensor.dtype == DataType::kInt32) {
    return ElementType::kInt32;
  }
  return storage == Storage::kFloat32 || tensor.dtype == DataType::kFp32 ? ElementType::kFloat32
                                                                         : ElementType::kBfloat16;
}

int64_t device_bytes(const Tensor& tensor, Storage storage) {
  return num_elements(tensor) * size_of(element_type(tensor, storage));
}

LoweringSpace::LoweringSpace(const Program& program,
                             Storage storage,
                             FusedAttentionPlanner* attention)
    : LoweringSpace(program, storage, DeviceBases{}, attention) {}

LoweringSpace::LoweringSpace(const Program& program,
                             Storage storage,
                             DeviceBases bases,
                             FusedAttentionPlanner* attention)
    : program_(&program), storage_(storage), attention_(attention), bases_(std::move(bases)) {}

Elements LoweringSpace::tensor(int rank, int tensor, int64_t row) const {
  const Tensor& shape = program_->tensors[static_cast<size_t>(tensor)];
  Elements first{0, element_type(shape, storage_)};
  if (has_no_bases()) {
    first.address = imagined(rank * static_cast<int64_t>(program_->tensors.size()) + tensor);
  } else {
    const std::vector<DeviceAddress>& own = bases_.tensors[static_cast<size_t>(rank)];
    CHECK(!own.empty(), "rank {} is not on this device", rank);
    first.address = own[static_cast<size_t>(tensor)];
  }
  return first.from(row * shape.columns);
}

void LoweringSpace::begin_task(const ScratchOwner& owner) {
  owner_ = owner;
  scratch_used_ = 0;
}

void LoweringSpace::need_scratch(const ScratchOwner& owner, int64_t bytes) {
  int64_t& most = scratch_bytes_[owner];
  most = std::max(most, bytes);
}

DeviceAddress LoweringSpace::scratch_base(const ScratchOwner& owner) const {
  if (has_no_bases()) {
    const auto [rank, stream] = owner;
    const auto tensors = static_cast<int64_t>(program_->tensors.size());
    const auto streams = static_cast<int64_t>(program_->streams.size());
    return imagined(program_->num_ranks * tensors + rank * streams + stream);
  }
  const auto found = bases_.scratch.find(owner);
  return found == bases_.scratch.end() ? 0 : found->second;
}

DeviceAddress LoweringSpace::shared_scratch(const ScratchOwner& owner, int64_t bytes) {
  need_scratch(owner, device_aligned(bytes));
  return scratch_base(owner);
}

DeviceAddress LoweringSpace::scratch(int64_t bytes) {
  CHECK(owner_.first != kNone, "scratch outside a task");
  const DeviceAddress address = scratch_base(owner_) + static_cast<DeviceAddress>(scratch_used_);
  scratch_used_ += device_aligned(bytes);
  need_scratch(owner_, scratch_used_);
  return address;
}

Elements LoweringSpace::scratch(ElementType type, int64_t elements) {
  return {scratch(elements * size_of(type)), type};
}

DeviceAddress LoweringSpace::table(std::span<const std::byte> bytes) {
  const DeviceAddress address = bases_.tables + tables_.size();
  tables_.insert(tables_.end(), bytes.begin(), bytes.end());
  constexpr size_t kEntryAlignment = 16;
  tables_.resize((tables_.size() + kEntryAlignment - 1) / kEntryAlignment * kEntryAlignment);
  return address;
}

const int32_t* LoweringSpace::numbers(const std::vector<int32_t>& numbers) {
  const auto [found, is_new] = numbers_.emplace(numbers, 0);
  if (is_new) {
    found->second = table(std::as_bytes(std::span(numbers)));
  }
  return reinterpret_cast<const int32_t*>(found->second);
}

}  // namespace moesim
