#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "sim/base/time.h"
#include "sim/io/gpu_check.h"

namespace moesim {

// What a plan of probes needs to know of the GPUs of this process.
struct ProbeMachine {
  int num_gpus = 1;
  int num_sms = 0;
  int64_t memory_bytes = 0;  // free on each
  int queues = 32;           // CUDA_DEVICE_MAX_CONNECTIONS
  bool has_nccl = true;
};

// Who runs probes: a GPU; in tests something with a known law.
class ProbeDevice {
 public:
  virtual ~ProbeDevice() = default;

  // Makes everything ready for a probe and gives what times it once. It is called before the next
  // probe is prepared. Both throw Failure where the GPU or a library fails.
  virtual std::function<Time()> prepare(const GpuProbe& probe) = 0;

  // The clock of the SMs now, in Hz; nothing where the machine does not say.
  virtual std::optional<double> clock_hertz() = 0;
};

}  // namespace moesim
