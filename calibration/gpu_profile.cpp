#include <map>
#include <utility>

#include "calibration/gpu_findings.h"
#include "calibration/gpu_samples.h"

namespace moesim {
namespace {

using Samples = std::vector<Sample>;

// Experts' weights are read anew in every layer: cold caches are what a training step meets.
std::optional<GemmCost> gemm_cost(const std::vector<GpuReading>& readings) {
  Samples samples;
  for (const GpuReading& reading : readings) {
    if (reading.probe.kind == GpuProbeKind::kGemm && reading.probe.cold) {
      add_samples(reading, reading.probe.flops(), samples);
    }
  }
  if (!has_two_sizes(samples)) {
    return std::nullopt;
  }
  const Line line = fit_line(samples);
  return GemmCost{line.startup_seconds, line.seconds_per_unit, line.fit};
}

CollectiveCost collective_cost(CollectiveOperation operation,
                               int group_size,
                               const Samples& samples) {
  CollectiveCost cost;
  cost.operation = operation;
  cost.span = Span::kNode;
  cost.group_size = group_size;
  cost.num_nodes = 1;
  fit_time(samples, cost);
  return cost;
}

std::vector<CollectiveCost> collective_costs(const std::vector<GpuReading>& readings) {
  std::map<std::pair<CollectiveOperation, int>, Samples> by_group;
  for (const GpuReading& reading : readings) {
    const GpuProbe& probe = reading.probe;
    if (probe.kind == GpuProbeKind::kCollective && probe.group_size > 1 && probe.ctas == 0 &&
        !probe.packed) {
      add_samples(
          reading, static_cast<double>(probe.bytes), by_group[{probe.operation, probe.group_size}]);
    }
  }
  std::vector<CollectiveCost> costs;
  for (const auto& [group, samples] : by_group) {
    if (has_two_sizes(samples)) {
      costs.push_back(collective_cost(group.first, group.second, samples));
    }
  }
  return costs;
}

}  // namespace

Profile gpu_profile(const std::vector<GpuProbes>& probes) {
  const GpuFindings findings = gpu_findings(probes);
  const std::vector<GpuReading> readings = accepted_readings(probes);
  Profile profile;
  for (const GpuProbes& one : probes) {
    profile.environment.insert(
        profile.environment.end(), one.environment.begin(), one.environment.end());
  }
  profile.gemm = gemm_cost(readings);
  if (findings.copy_bytes_per_second > 0) {
    profile.memory_bytes_per_second = findings.copy_bytes_per_second;
  }
  if (findings.launch) {
    profile.launch_overhead_seconds = findings.launch->seconds;
  }
  profile.collectives = collective_costs(readings);
  return profile;
}

}  // namespace moesim
