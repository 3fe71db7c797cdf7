#pragma once

#include <map>
#include <string>

#include "kernels/device/lowering_space.h"
#include "kernels/row_spans.h"
#include "kernels/tensor_store.h"
#include "tests/support/device_interpreter.h"

namespace moesim::testing {

struct LoweredOptions {
  Rounding rounding = Rounding::kExact;
  Storage storage = Storage::kFloat32;
  BlockOrder order = BlockOrder::kAscending;
  bool members_apart = false;  // each member's part of a collective's step is a step of its own
  int only_task = kNone;       // else all
  FusedAttentionPlanner* attention = nullptr;
};

struct LoweredRun {
  // What each launch of a kernel, each product and each copy did, by the step's name.
  std::map<std::string, int64_t> steps;
};

// Runs a Program in launch order by lowering its tasks to DeviceSteps and interpreting those on
// memory that holds every rank: what run_in_launch_order does, on devices. Takes the inputs from
// the store and leaves the results there. Fails the test (throws std::runtime_error) where a step
// writes outside of what it was given.
LoweredRun run_lowered(const RowMap& map, const LoweredOptions& options, TensorStore& tensors);

}  // namespace moesim::testing
