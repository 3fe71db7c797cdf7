#pragma once

#include <map>
#include <memory>
#include <vector>

#include "kernels/core/rounding.h"
#include "kernels/device/device_step.h"
#include "kernels/device/issue_order.h"
#include "kernels/device/lower_exchange.h"
#include "kernels/device/lowering_space.h"
#include "kernels/host/host_script.h"
#include "kernels/row_spans.h"

namespace moesim {

// What the runs of a Program on one device have in common before addresses are known.
struct DeviceScript {
  // Of all ranks, whose memory the device reaches.
  explicit DeviceScript(const Program& of);
  // Of one rank, which has the device to itself and calls NCCL.
  DeviceScript(const Program& of, int rank, bool has_native_all_to_all);

  const Program* program;
  RowMap map;
  HostScript script;  // ranks that are not here have no tasks
  std::vector<int> ranks;
  bool calls_nccl = false;
  bool native_all_to_all = false;
  std::vector<Issue> order;

  const Task& task(const ScriptPlace& place) const {
    return program->tasks[script.ranks[place.rank].tasks[place.position].task];
  }
};

// A collective among members whose memory the device reaches: each member's steps, with a barrier
// of all members before the first phase, between phases, and behind the last.
struct CollectiveSteps {
  std::vector<std::vector<std::vector<DeviceStep>>> phases;  // [phase][member]
};

// Every task as the device is told it.
struct DeviceProgram {
  std::vector<std::vector<std::vector<DeviceStep>>> tasks;  // [rank][position]
  std::vector<CollectiveSteps> meetings;                    // empty where NCCL is called
  std::vector<DeviceExchange> exchanges;  // by meeting; of the rank; empty where it is not
};

// Lowers all tasks, always in the same order. Throws Error where make_operation does.
DeviceProgram lower_program(const DeviceScript& script, Rounding rounding, LoweringSpace& space);

}  // namespace moesim
