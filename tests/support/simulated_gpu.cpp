#include "tests/support/simulated_gpu.h"

#include <algorithm>

namespace moesim {

bool SimulatedGpu::is_throttled() const {
  return throttling_.from <= elapsed_ && elapsed_ < throttling_.until;
}

double SimulatedGpu::gemm(const GpuProbe& probe) const {
  const double sms = probe.sms > 0 ? probe.sms : law_.num_sms;
  const double share = sms / law_.num_sms;
  return law_.gemm_startup +
         probe.flops() / law_.flops_per_second / share * (probe.cold ? law_.cold_factor : 1);
}

double SimulatedGpu::seconds_of(const GpuProbe& probe) const {
  const double bytes = static_cast<double>(probe.bytes);
  const double copy =
      2 * bytes / std::min(law_.copy_rate, std::max(1, probe.blocks) * law_.copy_rate_of_block);
  GpuProbe left = probe;
  left.sms = law_.num_sms - probe.beside_sms;
  const double collective = law_.collective_startup + bytes / law_.collective_rate;
  switch (probe.kind) {
    case GpuProbeKind::kGemm:
      return gemm(probe);
    case GpuProbeKind::kGemmBesideSpin:
      return gemm(left);
    case GpuProbeKind::kGemmBesideCopy:
      return gemm(left) * (1 + law_.memory_loss_of_sm * probe.beside_sms);
    case GpuProbeKind::kLateCopy:
      return copy + gemm(probe) * (probe.priority ? law_.waits_with_priority : law_.waits_late);
    case GpuProbeKind::kQueues:
      return law_.chain_kernel * (probe.queues >= probe.streams
                                      ? probe.kernels
                                      : probe.streams * (probe.kernels - 1) + 1);
    case GpuProbeKind::kCopy:
      return copy;
    case GpuProbeKind::kLaunch:
      return law_.launch * probe.kernels;
    case GpuProbeKind::kCollective:
      return collective;
    case GpuProbeKind::kCollectivePair:
      return collective * law_.pair_factor;
  }
  return 0;
}

std::function<Time()> SimulatedGpu::prepare(const GpuProbe& probe) {
  return [this, probe] {
    double seconds = seconds_of(probe) * random_.uniform(1 - law_.noise, 1 + law_.noise);
    seconds *= random_.uniform() < law_.disturbed_share ? 2 : 1;
    seconds *= is_throttled() ? throttling_.factor : 1;
    elapsed_ += seconds;
    return Time::from_seconds(seconds);
  };
}

std::optional<double> SimulatedGpu::clock_hertz() {
  if (!throttling_.shows_in_clock) {
    return std::nullopt;
  }
  constexpr double kClock = 1.98e9;
  return is_throttled() ? kClock / throttling_.factor : kClock;
}

}  // namespace moesim
