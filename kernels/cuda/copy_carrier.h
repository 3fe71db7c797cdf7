#pragma once

#include <vector>

#include "kernels/cuda/collective_carrier.h"
#include "kernels/cuda/handles.h"
#include "kernels/device/device_program.h"

namespace moesim {

// Collectives among logical ranks of one device, by copies and sums within its memory: every member
// carries out the moves to its own memory on its own stream, with barriers of events.
class CopyCarrier : public CollectiveCarrier {
 public:
  // Keeps references.
  CopyCarrier(const HostScript& script, const DeviceProgram& program, const StepLauncher& launcher);

  void issue(int meeting, const std::vector<LaunchPlace>& members) override;

 private:
  void barrier(const std::vector<LaunchPlace>& members);

  const DeviceProgram& program_;
  const StepLauncher& launcher_;
  std::vector<Event> reached_;  // by member; recorded anew by each barrier
};

}  // namespace moesim
