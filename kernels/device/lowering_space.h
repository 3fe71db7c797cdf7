#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "kernels/core/elements.h"
#include "kernels/device/fused_attention.h"
#include "sim/io/program.h"

namespace moesim {

// How tensors of floating type lie in device memory.
enum class Storage {
  kFloat32,  // all as FP32, as in the CPU backend
  kOwnType   // FP32 and BF16 as their dtype says; FP8 as BF16, for which there are no kernels
};

ElementType element_type(const Tensor& tensor, Storage storage);
// Of a rank's whole buffer.
int64_t device_bytes(const Tensor& tensor, Storage storage);

// Rank and stream: its tasks run one behind the other, and so share scratch memory.
using ScratchOwner = std::pair<int, int>;

// Where a device's memory begins for its uses. All addresses are multiples of kDeviceAlignment.
inline constexpr int64_t kDeviceAlignment = 256;
constexpr int64_t device_aligned(int64_t bytes) {
  return (bytes + kDeviceAlignment - 1) / kDeviceAlignment * kDeviceAlignment;
}

struct DeviceBases {
  std::vector<std::vector<DeviceAddress>> tensors;  // [rank][tensor]; ranks not here: empty
  std::map<ScratchOwner, DeviceAddress> scratch;
  DeviceAddress tables = 0;
};

// Gives addresses while tasks are lowered. A Program is lowered twice, the same tasks in the same
// order: first without bases, to learn the sizes of scratch and tables, then for real, which takes
// no more of either.
//
//   LoweringSpace sizes(program, storage);                // addresses mean nothing
//   … lower_task(site, sizes) …                           // then allocate what it says
//   LoweringSpace space(program, storage, bases);
//   … steps = lower_task(site, space) …                   // then upload space.tables()
class LoweringSpace {
 public:
  // Attention is fused where `attention` has a kernel for it; without one, nowhere. Keeps
  // references.
  LoweringSpace(const Program& program,
                Storage storage,
                FusedAttentionPlanner* attention = nullptr);
  LoweringSpace(const Program& program,
                Storage storage,
                DeviceBases bases,
                FusedAttentionPlanner* attention = nullptr);

  const Program& program() const { return *program_; }
  Storage storage() const { return storage_; }
  FusedAttentionPlanner* attention() const { return attention_; }

  // Row `row` of the rank's buffer, counted block after block.
  Elements tensor(int rank, int tensor, int64_t row = 0) const;

  // Scratch memory is the task's from here on, from the beginning of the owner's area.
  void begin_task(const ScratchOwner& owner);
  // The next bytes of the area; what they hold is unknown.
  DeviceAddress scratch(int64_t bytes);
  // What was taken behind a mark may be taken again: steps of a task run one behind the other.
  int64_t scratch_mark() const { return scratch_used_; }
  void rewind_scratch(int64_t mark) { scratch_used_ = mark; }
  Elements scratch(ElementType type, int64_t elements);
  // The first bytes of an owner's area, for a collective whose members reach each other's; a task
  // that uses them has no other scratch memory.
  DeviceAddress shared_scratch(const ScratchOwner& owner, int64_t bytes);

  // Puts a table that kernels read into the memory that is uploaded before the run, and returns its
  // address.
  DeviceAddress table(std::span<const std::byte> bytes);
  template <typename Entry>
  const Entry* table(const std::vector<Entry>& entries) {
    return reinterpret_cast<const Entry*>(table(std::as_bytes(std::span(entries))));
  }
  // The same for numbers that hold no addresses: equal ones are there once.
  const int32_t* numbers(const std::vector<int32_t>& numbers);

  // What has been used: bytes of each area, and what the tables hold.
  const std::map<ScratchOwner, int64_t>& scratch_bytes() const { return scratch_bytes_; }
  const std::vector<std::byte>& tables() const { return tables_; }
  DeviceAddress tables_address() const { return bases_.tables; }

 private:
  bool has_no_bases() const { return bases_.tensors.empty(); }
  DeviceAddress scratch_base(const ScratchOwner& owner) const;
  void need_scratch(const ScratchOwner& owner, int64_t bytes);

  const Program* program_;
  Storage storage_;
  FusedAttentionPlanner* attention_;
  DeviceBases bases_;
  ScratchOwner owner_{kNone, kNone};
  int64_t scratch_used_ = 0;  // of the task
  std::map<ScratchOwner, int64_t> scratch_bytes_;
  std::vector<std::byte> tables_;
  std::map<std::vector<int32_t>, DeviceAddress> numbers_;
};

}  // namespace moesim
