#pragma once

#include <map>
#include <string>
#include <vector>

#include "kernels/cuda/handles.h"
#include "kernels/cuda/step_launcher.h"
#include "kernels/kernel_times.h"

namespace moesim {

// Times steps that run alone on a stream, by an event between each and the next. A spin holds the
// stream until the host has launched a batch of them: else short steps would take as long as their
// launches.
class StepTimer {
 public:
  StepTimer();

  // Runs the steps to their end. Throws CudaError.
  void run(const StepLauncher& launcher,
           const std::vector<DeviceStep>& steps,
           const LaunchPlace& place);

  // By name, in alphabetical order.
  std::vector<KernelTime> times() const;

 private:
  void run_batch(const StepLauncher& launcher,
                 const DeviceStep* first,
                 const DeviceStep* last,
                 const LaunchPlace& place);
  void add(const DeviceStep& step, const Event& begin, const Event& end);

  std::vector<Event> events_;
  std::map<std::string, KernelTime> by_name_;
};

}  // namespace moesim
