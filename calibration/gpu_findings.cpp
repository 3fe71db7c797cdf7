#include "calibration/gpu_findings.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "calibration/gpu_samples.h"
#include "kernels/stopping.h"

namespace moesim {
namespace {

// A grid this near to the fastest is as good.
constexpr double kNearlyAll = 0.95;

class Findings {
 public:
  explicit Findings(const std::vector<GpuReading>& readings) : readings_(readings) {}

  GpuFindings make() && {
    gemms();
    gemm_by_sms();
    contention();
    late();
    queues();
    launches();
    copies();
    collectives();
    pairs();
    return std::move(findings_);
  }

 private:
  template <typename Action>
  void for_each(GpuProbeKind kind, Action action) const {
    for (const GpuReading& reading : readings_) {
      if (reading.probe.kind == kind) {
        action(reading);
      }
    }
  }

  // Of the group that `beside` was measured in: at the same speed of the GPU.
  std::optional<double> seconds_of(const GpuProbe& probe, const GpuReading& beside) const {
    for (const GpuReading& reading : readings_) {
      if (reading.probe == probe && reading.group == beside.group) {
        return known_time(reading).seconds;
      }
    }
    return std::nullopt;
  }

  // The same GEMM with nothing beside it, on as many SMs as it likes.
  std::optional<double> gemm_alone(const GpuReading& beside) const {
    const GpuProbe& probe = beside.probe;
    return seconds_of({.kind = GpuProbeKind::kGemm,
                       .rows = probe.rows,
                       .columns = probe.columns,
                       .depth = probe.depth},
                      beside);
  }

  void gemms() {
    std::map<std::tuple<int64_t, int64_t, bool>, std::vector<Sample>> by_shape;
    std::map<std::tuple<int64_t, int64_t, bool>, double> rates;
    for_each(GpuProbeKind::kGemm, [&](const GpuReading& reading) {
      const GpuProbe& probe = reading.probe;
      if (probe.sms == 0) {
        const std::tuple key(probe.columns, probe.depth, probe.cold);
        add_samples(reading, probe.flops(), by_shape[key]);
        rates[key] = std::max(rates[key], probe.flops() / known_time(reading).seconds);
      }
    });
    for (const auto& [key, samples] : by_shape) {
      if (has_two_sizes(samples)) {
        const auto& [columns, depth, cold] = key;
        findings_.gemms.push_back({columns, depth, cold, fit_line(samples), rates[key]});
      }
    }
  }

  void gemm_by_sms() {
    std::vector<Sample> samples;
    for_each(GpuProbeKind::kGemm, [&](const GpuReading& reading) {
      if (reading.probe.sms > 0) {
        add_samples(reading, 1.0 / reading.probe.sms, samples);
      }
    });
    if (has_two_sizes(samples)) {
      findings_.gemm_by_sms = fit_line(samples);
    }
  }

  void contention() {
    for_each(GpuProbeKind::kGemmBesideSpin, [&](const GpuReading& spin) {
      GpuProbe copying = spin.probe;
      copying.kind = GpuProbeKind::kGemmBesideCopy;
      const std::optional<double> alone = gemm_alone(spin);
      const std::optional<double> beside_copy = seconds_of(copying, spin);
      if (alone && beside_copy) {
        const double beside_spin = known_time(spin).seconds;
        findings_.contention.push_back({.held_sms = spin.probe.beside_sms,
                                        .limit = spin.probe.sms,
                                        .sm_loss = beside_spin / *alone,
                                        .memory_loss = *beside_copy / beside_spin});
      }
    });
  }

  void late() {
    for_each(GpuProbeKind::kLateCopy, [&](const GpuReading& reading) {
      const GpuProbe& probe = reading.probe;
      const std::optional<double> gemm = gemm_alone(reading);
      const std::optional<double> copy = seconds_of(
          {.kind = GpuProbeKind::kCopy, .bytes = probe.bytes, .blocks = probe.blocks}, reading);
      if (gemm && copy) {
        findings_.late.push_back(
            {.priority = probe.priority, .waited = (known_time(reading).seconds - *copy) / *gemm});
      }
    });
  }

  void queues() {
    for_each(GpuProbeKind::kQueues, [&](const GpuReading& reading) {
      GpuProbe one_chain = reading.probe;
      one_chain.streams = 1;
      const std::optional<double> chain = seconds_of(one_chain, reading);
      if (!chain || reading.probe.streams < 2) {
        return;
      }
      const double kernel = *chain / reading.probe.kernels;
      const double in_one_queue =
          kernel * (reading.probe.streams * (reading.probe.kernels - 1) + 1);
      findings_.queues.push_back(
          {.queues = reading.probe.queues,
           .streams = reading.probe.streams,
           .serialized = (known_time(reading).seconds - *chain) / (in_one_queue - *chain)});
    });
  }

  // Of the longest run of launches, in which what surrounds them weighs least.
  void launches() {
    int most = 0;
    for_each(GpuProbeKind::kLaunch, [&](const GpuReading& reading) {
      if (reading.probe.kernels > most) {
        most = reading.probe.kernels;
        findings_.launch = known_time(reading);
        findings_.launch->seconds /= most;
      }
    });
  }

  // A copy reads and writes its bytes once.
  void copies() {
    std::map<int, double> rates;
    for_each(GpuProbeKind::kCopy, [&](const GpuReading& reading) {
      const KnownTime known = known_time(reading);
      const double rate = 2.0 * static_cast<double>(reading.probe.bytes) / known.seconds;
      double& of_grid = rates[reading.probe.blocks];
      of_grid = std::max(of_grid, rate);
      if (rate > findings_.copy_bytes_per_second) {
        findings_.copy_bytes_per_second = rate;
        findings_.copy_spread = known.spread;
      }
    });
    for (const auto& [blocks, rate] : rates) {
      if (rate >= kNearlyAll * findings_.copy_bytes_per_second) {
        findings_.copy_blocks = blocks;
        return;
      }
    }
  }

  void collectives() {
    std::map<std::tuple<int, CollectiveOperation, int, bool>, std::vector<Sample>> by_kind;
    for_each(GpuProbeKind::kCollective, [&](const GpuReading& reading) {
      const GpuProbe& probe = reading.probe;
      add_samples(reading,
                  static_cast<double>(probe.bytes),
                  by_kind[{probe.group_size, probe.operation, probe.ctas, probe.packed}]);
    });
    for (const auto& [key, samples] : by_kind) {
      if (has_two_sizes(samples)) {
        const auto& [group_size, operation, ctas, packed] = key;
        findings_.collectives.push_back({operation, group_size, ctas, packed, fit_line(samples)});
      }
    }
  }

  void pairs() {
    for_each(GpuProbeKind::kCollectivePair, [&](const GpuReading& reading) {
      GpuProbe one = reading.probe;
      one.kind = GpuProbeKind::kCollective;
      if (const std::optional<double> alone = seconds_of(one, reading)) {
        findings_.pairs.push_back({.group_size = one.group_size,
                                   .bytes = one.bytes,
                                   .factor = known_time(reading).seconds / *alone});
      }
    });
  }

  const std::vector<GpuReading>& readings_;
  GpuFindings findings_;
};

}  // namespace

KnownTime known_time(const GpuReading& reading) {
  std::vector<double> seconds;
  for (const Time time : reading.times) {
    seconds.push_back(time.seconds());
  }
  return {.seconds = quantile(seconds, 0.5),
          .spread = median_spread(reading.times),
          .num_samples = static_cast<int>(seconds.size())};
}

GpuFindings gpu_findings(const std::vector<GpuProbes>& probes) {
  const std::vector<GpuReading> readings = accepted_readings(probes);
  GpuFindings findings = Findings(readings).make();
  for (const GpuProbes& one : probes) {
    findings.num_readings += static_cast<int>(one.readings.size());
  }
  findings.num_rejected = findings.num_readings - static_cast<int>(readings.size());
  return findings;
}

}  // namespace moesim
