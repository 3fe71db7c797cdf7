#pragma once

#include <vector>

#include "kernels/cuda/handles.h"
#include "kernels/cuda/step_launcher.h"
#include "kernels/device/device_program.h"

namespace moesim {

// A stream for each stream of each rank, those that only carry collectives with high priority, and
// one that an iteration begins and ends on.
class TaskStreams {
 public:
  TaskStreams(const DeviceScript& script, const DeviceProgram& program);

  // Bytes of device memory that the products on all streams need.
  static int64_t workspace_bytes(const DeviceScript& script, const DeviceProgram& program);

  cudaStream_t main() const { return main_.get(); }
  const LaunchPlace& place(int rank, int lane) const {
    return places_[static_cast<size_t>(rank)][static_cast<size_t>(lane)];
  }

  // Of some rank's stream; null where there are no products.
  void* any_workspace() const;

  // All streams wait for what is on the main one, or it for all of them.
  void fork();
  void join();

 private:
  Stream main_;
  std::vector<Stream> streams_;  // in order of rank, then lane
  std::vector<DeviceMemory> workspaces_;
  std::vector<std::vector<LaunchPlace>> places_;  // [rank][lane]
  std::vector<Event> ends_;                       // by stream
  Event begin_;
};

}  // namespace moesim
