#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "kernels/cuda/collective_carrier.h"
#include "kernels/cuda/nccl/communicators.h"
#include "kernels/device/device_program.h"

namespace moesim {

// What of an exchange is NCCL's, within a group of its calls. Throws NcclError.
void call_nccl(const std::vector<DeviceCall>& calls, ncclComm_t communicator, cudaStream_t stream);

// Collectives of one rank, which has its device to itself: regions are packed, NCCL is called and
// what came is unpacked, on the stream and in the time of the task.
class NcclCarrier : public CollectiveCarrier {
 public:
  struct Parts {
    const DeviceScript& script;
    const DeviceProgram& program;
    const StepLauncher& launcher;
    Communicators& communicators;
    std::function<void(bool)> host_waits;  // told while NCCL may wait for peers
  };
  // Keeps the references.
  explicit NcclCarrier(Parts parts) : parts_(std::move(parts)) {}

  void issue(int meeting, const std::vector<LaunchPlace>& members) override;

 private:
  void call(int meeting, cudaStream_t stream);

  Parts parts_;
};

}  // namespace moesim
