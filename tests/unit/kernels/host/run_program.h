#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/host/host_executor.h"
#include "kernels/inputs.h"
#include "kernels/tensor_store.h"
#include "tests/support/hand_program.h"

namespace moesim::test {

inline Time ms(double milliseconds) {
  return Time::from_seconds(milliseconds * 1e-3);
}

inline Time hours(int count) {
  return Time::from_seconds(3600.0 * count);
}

// Anchored, and blind to whatever this machine does meanwhile.
inline HostOptions anchored() {
  HostOptions options;
  options.clock = HostClock::kAnchored;
  options.overrun = hours(1);
  return options;
}

inline TensorStore filled_tensors(const Program& program) {
  TensorStore tensors(program, all_ranks(program));
  fill_inputs(InputData::kInteger, tensors);
  return tensors;
}

inline Execution execute(const Program& program, const HostOptions& options) {
  TensorStore tensors = filled_tensors(program);
  return HostExecutor(program, options).run(tensors);
}

inline TaskSpan span_of(const Execution& execution, int task, int rank) {
  for (const TaskSpan& span : execution.trace.spans) {
    if (span.task == task && span.rank == rank) {
      return span;
    }
  }
  ADD_FAILURE() << "no span of task " << task << " on rank " << rank;
  return {};
}

// An operation that is a function.
class Calls : public Operation {
 public:
  explicit Calls(std::function<void(TensorStore&)> function) : function_(std::move(function)) {}
  void run(TensorStore& tensors) const override { function_(tensors); }

 private:
  std::function<void(TensorStore&)> function_;
};

// Every operation of the Program calls the function.
inline OperationFactory always(const std::function<void(TensorStore&)>& function) {
  return [function](const RowMap&, const Task&, int) { return std::make_unique<Calls>(function); };
}

inline Task elementwise(int stream) {
  Task task;
  task.kind = "work";
  task.stream = stream;
  task.descriptor = Elementwise{};
  return task;
}

}  // namespace moesim::test
