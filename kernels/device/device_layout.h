#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kernels/device/arena_plan.h"
#include "kernels/device/lowering_space.h"

namespace moesim {

// How one piece of device memory holds what a Program needs: an arena for each rank, scratch memory
// for each stream of a rank, tables.
class DeviceLayout {
 public:
  // For `ranks`, whose tasks `sizes` has lowered; `is_kept` as in ArenaRequest.
  DeviceLayout(const LoweringSpace& sizes,
               const std::vector<int>& ranks,
               const std::vector<bool>& is_kept);

  int64_t bytes() const { return bytes_; }
  int64_t arena_bytes() const { return arena_bytes_; }  // of all ranks
  int64_t scratch_bytes() const { return scratch_bytes_; }
  int64_t table_bytes() const { return table_bytes_; }

  // Whether the rank has the tensor.
  bool has(int rank, int tensor) const {
    return !offsets_[rank].empty() && offsets_[rank][tensor] != kNone;
  }

  // For a piece of memory that begins at `base`.
  DeviceBases bases(DeviceAddress base) const;

 private:
  // The next bytes.
  int64_t take(int64_t bytes);

  std::vector<std::vector<int64_t>>
      offsets_;  // [rank][tensor]; kNone: not there; empty: nor the rank
  std::map<ScratchOwner, int64_t> scratch_;
  int64_t tables_ = 0;
  int64_t arena_bytes_ = 0;
  int64_t scratch_bytes_ = 0;
  int64_t table_bytes_ = 0;
  int64_t bytes_ = 0;
};

// "tensors 1.20 GiB (recv 256 MiB, …), scratch 64 MiB, tables 1 MiB": the five largest tensors, by
// what all ranks hold of them.
std::string describe(const DeviceLayout& layout, const Program& program, Storage storage);

}  // namespace moesim
