#include "kernels/cuda/copy_carrier.h"

#include <algorithm>

namespace moesim {

CopyCarrier::CopyCarrier(const HostScript& script,
                         const DeviceProgram& program,
                         const StepLauncher& launcher)
    : program_(program), launcher_(launcher) {
  size_t most = 0;
  for (const Meeting& meeting : script.meetings) {
    most = std::max(most, meeting.tasks.size());
  }
  for (size_t member = 0; member < most; ++member) {
    reached_.push_back(make_event(EventKind::kUntimed));
  }
}

void CopyCarrier::issue(int meeting, const std::vector<LaunchPlace>& members) {
  const CollectiveSteps& collective = program_.meetings[static_cast<size_t>(meeting)];
  barrier(members);
  for (const std::vector<std::vector<DeviceStep>>& phase : collective.phases) {
    for (size_t member = 0; member < members.size(); ++member) {
      launcher_.launch(phase[member], members[member]);
    }
    barrier(members);
  }
}

// The first member's stream waits for all others, then they for it. A wait is for what the event
// was recorded for last, so that events can be used again.
void CopyCarrier::barrier(const std::vector<LaunchPlace>& members) {
  const auto record = [&](size_t member) {
    check_cuda(cudaEventRecord(reached_[member].get(), members[member].stream), "cudaEventRecord");
  };
  const auto wait = [&](size_t member, size_t other) {
    check_cuda(cudaStreamWaitEvent(members[member].stream, reached_[other].get(), 0),
               "cudaStreamWaitEvent");
  };
  if (members.size() < 2) {
    return;
  }
  for (size_t member = 1; member < members.size(); ++member) {
    record(member);
    wait(0, member);
  }
  record(0);
  for (size_t member = 1; member < members.size(); ++member) {
    wait(member, 0);
  }
}

}  // namespace moesim
