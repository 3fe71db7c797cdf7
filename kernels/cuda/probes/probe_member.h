#pragma once

#include <optional>
#include <vector>

#include "kernels/cuda/handles.h"
#include "kernels/cuda/nccl/communicators.h"
#include "kernels/device/lower_exchange.h"
#include "kernels/probe/collective_pattern.h"
#include "sim/io/gpu_check.h"

namespace moesim {

// One GPU's part of a probed collective, or of two at once, which have communicators and streams of
// their own. All that follows the constructor is the member's thread's, and throws CudaError and
// NcclError.
class ProbeMember {
 public:
  struct Seat {
    int rank = 0;
    int device = 0;
  };
  ProbeMember(const GpuProbe& probe, const Seat& seat);

  int rank() const { return seat_.rank; }
  // What another thread may poll and abort.
  Communicators& communicators() { return communicators_; }

  // Takes memory on the device, has it load what is launched, and makes the communicators, together
  // with the other members.
  void connect(const ncclUniqueId& id);

  // Does once what is timed, and throws Failure where anything but what must arrive has arrived.
  void check();

  Time run();

  // Gives the communicators back, together with the other members. Without it they are aborted.
  void close() { communicators_.close(); }

 private:
  struct Part {
    int number = 0;
    Stream stream;
    DeviceMemory from;
    DeviceMemory to;
    DeviceMemory strided;  // rows with gaps as long as they are
    std::vector<DeviceCall> calls;
    Event end;
  };
  struct Device {
    Event begin;
    Event end;
    std::vector<Part> parts;
  };

  Part make_part(int number) const;
  void load(const Part& part) const;
  void pack(const Part& part) const;
  void issue(const Part& part);
  void send_pattern(const Part& part) const;
  void require_received(const Part& part) const;

  GpuProbe probe_;
  Seat seat_;
  CollectivePattern pattern_;
  Communicators communicators_;
  std::optional<Device> device_;
};

}  // namespace moesim
