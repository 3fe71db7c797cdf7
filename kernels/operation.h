#pragma once

#include <memory>

#include "kernels/row_spans.h"
#include "kernels/tensor_store.h"
#include "sim/io/program.h"

namespace moesim {

// How compute tasks treat the activations and activation gradients that they read.
enum class Rounding {
  kOff,
  // To the nearest multiple of 1/8, clamped to [-4, 4]; inside attention every factor before its
  // next product. Weights are integers then, so that products and their sums are exact in FP32 in
  // any order, and a schedule's results equal an unpartitioned model's bit for bit. Collectives,
  // local sums and accumulations never round.
  kExact
};

// A task that computes, resolved for one rank: knows where its operands lie.
class Operation {
 public:
  virtual ~Operation() = default;

  // Computes on the rank's buffers. Different operations may run at the same time.
  virtual void run(TensorStore& tensors) const = 0;
};

// The operation of any task but collectives, fixed times and host waits; null for those and for
// tasks without regions. Throws Error where a Program that was not verified lacks operands.
std::unique_ptr<Operation> make_operation(const RowMap& map,
                                          const Task& task,
                                          int rank,
                                          Rounding rounding);

}  // namespace moesim
