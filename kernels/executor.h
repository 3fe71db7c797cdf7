#pragma once

#include "kernels/tensor_store.h"
#include "sim/base/time.h"
#include "sim/io/trace.h"

namespace moesim {

// One iteration that was run for real.
struct Execution {
  Trace trace;
  // The longest time by which a task ended after the moment that was planned for it: what the
  // machine, not the Program, added at once. Zero for executors that plan no ends.
  Time lateness;
  // The time by which the iteration ended after it would have, had every task begun the moment it
  // could and lasted as planned (as long as it did, where nothing is planned): what the machine
  // added in all. Zero where nothing is paced, and among processes, which do not know it.
  Time delay{};
};

// Runs a Program for real. An executor is made for one Program on one set of ranks; each run is one
// iteration.
class Executor {
 public:
  virtual ~Executor() = default;

  // Runs the Program on these tensors, whose inputs are filled, and leaves the results in them.
  // Moving tensors to and from a device is not part of the trace. Throws Hang when a collective
  // never begins because members do not arrive.
  virtual Execution run(TensorStore& tensors) = 0;
};

}  // namespace moesim
