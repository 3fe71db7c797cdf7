#pragma once

#include <functional>
#include <optional>

#include "kernels/probe/probe_device.h"
#include "sim/base/random.h"

namespace moesim {

// A GPU whose costs are these, times a noise of at most `noise` and, seldom, a disturbance that
// doubles a time. It tells the time that its probes took, so that nothing depends on a real clock.
struct GpuLaw {
  int num_sms = 132;
  double gemm_startup = 5e-6;
  double flops_per_second = 700e12;  // of all SMs
  double cold_factor = 1.2;          // of a GEMM's transfer and computing
  double copy_rate_of_block = 40e9;  // read and written
  double copy_rate = 4e12;           // of all
  double memory_loss_of_sm = 0.01;   // of a GEMM, for each SM that copies
  double waits_late = 0.8;           // of a GEMM, of what is launched behind it
  double waits_with_priority = 0.1;
  double chain_kernel = 50e-6;
  double launch = 2e-6;
  double collective_startup = 20e-6;
  double collective_rate = 300e9;
  double pair_factor = 1.6;
  double noise = 0.004;
  double disturbed_share = 0.05;
};

class SimulatedGpu : public ProbeDevice {
 public:
  SimulatedGpu(const GpuLaw& law, std::uint64_t seed) : law_(law), random_(seed) {}

  std::function<Time()> prepare(const GpuProbe& probe) override;
  std::optional<double> clock_hertz() override;

  // Without noise, at full speed.
  double seconds_of(const GpuProbe& probe) const;

  // How much slower it is once so many seconds are over, and until when.
  struct Throttling {
    double from = 0;
    double until = 0;
    double factor = 1;
    bool shows_in_clock = false;
  };
  void throttle(const Throttling& throttling) { throttling_ = throttling; }
  double elapsed() const { return elapsed_; }

 private:
  bool is_throttled() const;
  double gemm(const GpuProbe& probe) const;

  GpuLaw law_;
  Random random_;
  Throttling throttling_;
  double elapsed_ = 0;
};

}  // namespace moesim
