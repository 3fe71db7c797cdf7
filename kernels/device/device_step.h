#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "kernels/core/elements.h"
#include "kernels/device/blocks/attention_rows.h"
#include "kernels/device/blocks/combine_pieces.h"
#include "kernels/device/blocks/expert_rows.h"
#include "kernels/device/blocks/gate_rows.h"
#include "kernels/device/blocks/gate_slots.h"
#include "kernels/device/blocks/optimizer_rows.h"
#include "kernels/device/blocks/token_slots.h"
#include "kernels/device/fused_attention.h"

namespace moesim {

// What a GPU is told to do, as plain values: the CUDA backend launches them, tests interpret them
// on the host. The steps of a task run one behind the other.

// Every byte becomes `value`.
struct Fill {
  DeviceAddress at = 0;
  int64_t bytes = 0;
  uint8_t value = 0;
};

struct Copy {
  DeviceAddress from = 0;
  DeviceAddress to = 0;
  int64_t bytes = 0;
};

// A matrix, row after row, `stride` elements apart; transposed, rows and columns change places.
struct DeviceMatrix {
  Elements at;
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t stride = 0;
  bool is_transposed = false;

  DeviceMatrix transposed() const { return {at, columns, rows, stride, !is_transposed}; }
};

// target = left * right, or added to what stands there; `batch` times, each `left_step` (…)
// elements behind the one before. Both factors are of one type; sums are FP32 in any case. A target
// of FP32 may have factors of BF16, not the reverse. No batch adds to the target of another.
struct Product {
  DeviceMatrix left;
  DeviceMatrix right;
  Elements target;
  int64_t target_stride = 0;
  bool add = false;

  int batch = 1;
  int64_t left_step = 0;
  int64_t right_step = 0;
  int64_t target_step = 0;

  int64_t rows() const { return left.rows; }
  int64_t columns() const { return right.columns; }
  int64_t depth() const { return left.columns; }
};

// As if one behind the other: some add to the same target. Those with different targets may run at
// the same time. None is empty in rows, columns or depth.
struct Products {
  std::vector<Product> products;
};

// The arguments of a kernel and its body: run(block, scratch) with T = kThreads threads for every
// block of [0, blocks), in any order and at the same time. `Scratch` is a block's shared memory.
using KernelBody = std::variant<CombinePieces,
                                ColumnSquares,
                                CosineScores,
                                GateProbabilities,
                                GateChoices,
                                FillExpertSlots,
                                FillChosenSlots,
                                GateGradient,
                                CosineInputGradient,
                                CosineWeightGradient,
                                GatherRows,
                                MapSlots,
                                SumSlots,
                                ScaleSlots,
                                Activate,
                                DifferentiateHidden,
                                SoftmaxRows,
                                SoftmaxBackwardRows,
                                OptimizerStep>;

struct Kernel {
  KernelBody body;
  int64_t blocks = 0;  // at least 1
};

using DeviceAction =
    std::variant<Fill, Copy, Products, Kernel, FusedAttention, FusedAttentionBackward>;

// Bytes of device memory read and written, and floating-point operations (a product of m x k and
// k x n: 2 m n k; of fused attention only pairs that are seen; other steps: 0, memory bounds them).
struct StepWork {
  int64_t bytes = 0;
  double flops = 0;
};

struct DeviceStep {
  DeviceAction action;
  StepWork work;
};

// "fill", "copy", "products", "fused_attention", …, or the kernel's name: "combine_pieces", …
// Points to a literal.
const char* name_of(const DeviceAction& action);

// Threads of a block of the kernel.
int threads_of(const KernelBody& body);

// The step with the work that follows from its values: each factor of a product is read once, a
// target once written, and read where it is added to.
DeviceStep fill_step(const Fill& fill);
DeviceStep copy_step(const Copy& copy);
DeviceStep products_step(Products products);
// Each row is read or written once, whatever the kernel keeps in its workspace.
DeviceStep attention_step(const FusedAttention& attention);
DeviceStep attention_step(const FusedAttentionBackward& attention);

}  // namespace moesim
