#include "kernels/probe/measure_probes.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include <fmt/core.h>

#include "sim/base/check.h"
#include "sim/base/error.h"

namespace moesim {
namespace {

// How fast the GPU is at one moment.
struct Speed {
  Time reference;
  std::optional<double> hertz;
};

double relative_change(double before, double after) {
  return std::abs(after / before - 1);
}

double drift(const Speed& before, const Speed& after) {
  double change = relative_change(before.reference.seconds(), after.reference.seconds());
  if (before.hertz && after.hertz && *before.hertz > 0) {
    change = std::max(change, relative_change(*before.hertz, *after.hertz));
  }
  return change;
}

Time median_of(std::vector<Time> times) {
  std::sort(times.begin(), times.end());
  return times[(times.size() - 1) / 2];
}

class ProbeRun {
 public:
  ProbeRun(const ProbeRules& rules, ProbeDevice& device) : rules_(rules), device_(device) {
    CHECK(rules.elapsed && rules.max_attempts > 0);
  }

  GpuProbes run(const std::vector<ProbeGroup>& groups) && {
    for (const ProbeGroup& group : groups) {
      probes_.num_planned += static_cast<int>(group.probes.size());
    }
    Speed before = speed();
    for (auto group = groups.begin(); group != groups.end(); ++group) {
      if (is_over()) {
        probes_.not_run.push_back(fmt::format("{}: the budget is over", group->name));
        continue;
      }
      try {
        before = measure(*group, before);
      } catch (const Failure& failure) {
        probes_.not_run.push_back(fmt::format("{}: {}", group->name, failure.what()));
      }
      keep({group + 1, groups.end()});
    }
    return std::move(probes_);
  }

 private:
  void keep(std::span<const ProbeGroup> left) const {
    if (!rules_.keep || left.empty()) {
      return;
    }
    GpuProbes so_far = probes_;
    for (const ProbeGroup& group : left) {
      so_far.not_run.push_back(fmt::format("{}: the run ended before", group.name));
    }
    rules_.keep(so_far);
  }

  bool is_over() const { return rules_.elapsed() >= rules_.budget_seconds; }

  std::vector<Time> times_of(const GpuProbe& probe) {
    const std::function<Time()> once = device_.prepare(probe);
    for (int i = 0; i < rules_.num_warmups; ++i) {
      once();
    }
    std::vector<Time> times;
    while (!reason_to_stop(rules_.rule, times)) {
      times.push_back(once());
    }
    return times;
  }

  // The clock is read while the GPU is still at work's speed, not idle.
  Speed speed() {
    const Time reference = median_of(times_of(kReferenceProbe));
    return {.reference = reference, .hertz = device_.clock_hertz()};
  }

  std::vector<GpuReading> readings_of(const ProbeGroup& group) {
    std::vector<GpuReading> readings;
    for (const GpuProbe& probe : group.probes) {
      if (is_over()) {
        break;
      }
      readings.push_back({.probe = probe, .times = times_of(probe), .group = group.name});
    }
    return readings;
  }

  // Gives the speed after it.
  Speed measure(const ProbeGroup& group, Speed before) {
    std::vector<GpuReading> readings;
    for (int attempt = 1;; ++attempt) {
      readings = readings_of(group);
      const Speed after = speed();
      const double change = drift(before, after);
      before = after;
      const bool is_steady = change <= rules_.max_drift;
      if (is_steady || attempt == rules_.max_attempts || is_over()) {
        for (GpuReading& reading : readings) {
          reading.drift = change;
          reading.rejected = !is_steady;
        }
        break;
      }
    }
    if (readings.size() < group.probes.size()) {
      probes_.not_run.push_back(fmt::format("{}: {} of {} probes, then the budget was over",
                                            group.name,
                                            readings.size(),
                                            group.probes.size()));
    }
    std::move(readings.begin(), readings.end(), std::back_inserter(probes_.readings));
    return before;
  }

  const ProbeRules& rules_;
  ProbeDevice& device_;
  GpuProbes probes_;
};

}  // namespace

GpuProbes measure_probes(const std::vector<ProbeGroup>& groups,
                         const ProbeRules& rules,
                         ProbeDevice& device) {
  return ProbeRun(rules, device).run(groups);
}

}  // namespace moesim
