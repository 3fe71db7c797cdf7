#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/io/program.h"

namespace moesim {

// Ascending: those of a process that executes them all.
std::vector<int> all_ranks(const Program& program);

// The buffers of the ranks that one process executes, in host memory. Every element takes four
// bytes: INT32 as it is, floating types as FP32 whatever the tensor's dtype (the CPU backend
// computes in FP32; the dtype decides what a transfer is charged for).
//
// Before a task has written them, values are NaN and indices -1 (an empty slot), so that reading
// too early shows in the results.
class TensorStore {
 public:
  TensorStore(const Program& program, std::vector<int> ranks);
  // Of all ranks.
  explicit TensorStore(const Program& program);

  const Program& program() const { return *program_; }
  const std::vector<int>& ranks() const { return ranks_; }

  // Row `row` of the rank's buffer, counted block after block; its columns follow. `values` is for
  // floating tensors, `indices` for INT32, `bytes` for either.
  float* values(int rank, int tensor, int64_t row = 0);
  const float* values(int rank, int tensor, int64_t row = 0) const;
  int32_t* indices(int rank, int tensor, int64_t row = 0);
  const int32_t* indices(int rank, int tensor, int64_t row = 0) const;
  std::byte* bytes(int rank, int tensor, int64_t row = 0);
  const std::byte* bytes(int rank, int tensor, int64_t row = 0) const;

  // All bytes of the rank's buffer.
  std::span<const std::byte> contents(int rank, int tensor) const;

  // Makes everything unwritten again.
  void clear();

  // Bytes of memory that a store of so many ranks takes.
  static int64_t size(const Program& program, int num_ranks);

 private:
  // One of the two is used.
  struct Buffer {
    std::vector<float> values;
    std::vector<int32_t> indices;
  };

  const Buffer& buffer(int rank, int tensor) const;

  const Program* program_;
  std::vector<int> ranks_;
  std::vector<int> slot_of_;                  // by rank; kNone: not here
  std::vector<std::vector<Buffer>> buffers_;  // [slot][tensor]
};

}  // namespace moesim
