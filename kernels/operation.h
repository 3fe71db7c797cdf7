#pragma once

#include <memory>

#include "kernels/core/rounding.h"
#include "kernels/row_spans.h"
#include "kernels/tensor_store.h"
#include "sim/io/program.h"

namespace moesim {

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
