#pragma once

#include "kernels/device/device_step.h"
#include "sim/base/random.h"
#include "tests/support/host_attention.h"

namespace moesim::testing {

// In which order the blocks of a kernel run: a device takes any.
enum class BlockOrder { kAscending, kDescending, kShuffled };

// Does on the host, to host memory, what a device would do. `random` shuffles.
class DeviceInterpreter {
 public:
  explicit DeviceInterpreter(BlockOrder order, uint64_t seed = 1) : order_(order), random_(seed) {}

  void run(const DeviceStep& step);

 private:
  void run(const Fill& fill);
  void run(const Copy& copy);
  void run(const Products& products);
  void run(const Kernel& kernel);
  static void run(const FusedAttention& attention) { attend_on_host(attention); }
  static void run(const FusedAttentionBackward& attention) { attend_on_host(attention); }

  BlockOrder order_;
  Random random_;
};

}  // namespace moesim::testing
