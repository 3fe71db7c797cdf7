#pragma once

#include <vector>

#include "kernels/device/device_step.h"
#include "kernels/device/lowering_space.h"
#include "kernels/operations/operand.h"

namespace moesim {

// What a device does for a task that computes, on its rank, with the scratch memory of the rank's
// stream (it begins the task in `space`); nothing for tasks without regions and those that do not
// compute. Throws Error where make_operation does.
//
// With Storage::kFloat32 the results are those of make_operation's operation, bit for bit where
// products are (kernels/gemm.h: with Rounding::kExact on integer data always).
std::vector<DeviceStep> lower_task(const TaskSite& site, LoweringSpace& space);

}  // namespace moesim
