#include "calibration/calibrate.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "calibration/cluster_rates.h"
#include "calibration/robust_fit.h"
#include "sim/program/work.h"

namespace moesim {
namespace {

// A collective's time is that of its slowest member: by task.
std::map<int, double> collective_seconds(const Trace& run) {
  std::map<int, double> seconds;
  for (const TaskSpan& span : run.spans) {
    double& slowest = seconds[span.task];
    slowest = std::max(slowest, (span.end - span.transfer).seconds());
  }
  return seconds;
}

// Of each run one sample.
std::vector<Sample> collective_samples(const Program& program, const std::vector<Trace>& runs) {
  std::vector<Sample> samples;
  for (const Trace& run : runs) {
    for (const auto& [task, seconds] : collective_seconds(run)) {
      const auto& collective = std::get<Collective>(program.tasks[task].descriptor);
      samples.push_back({static_cast<double>(collective.bytes), seconds});
    }
  }
  return samples;
}

CollectiveCost fit_collective(const PlannedCollective& planned,
                              const std::vector<Sample>& samples) {
  CollectiveCost cost;
  cost.operation = planned.operation;
  cost.span = planned.span;
  cost.group_size = planned.group_size;
  fit_time(samples, cost);
  return cost;
}

// The samples of one kind of operation in one pass, by what its time is taken to grow with.
struct OperationSamples {
  std::vector<Sample> by_flops;
  std::vector<Sample> by_bytes;
};

using OperationKey = std::pair<std::string, Pass>;

void add_operation_samples(const Program& program,
                           const std::vector<Trace>& runs,
                           std::map<OperationKey, OperationSamples>& samples) {
  const std::vector<std::string> names = compute_operation_names();
  for (const Trace& run : runs) {
    for (const TaskSpan& span : run.spans) {
      const Task& task = program.tasks[span.task];
      const std::string name = descriptor_name(task.descriptor);
      const double seconds = (span.end - span.start).seconds();
      if (seconds <= 0 || std::find(names.begin(), names.end(), name) == names.end()) {
        continue;
      }
      const Work work = work_of(program, task);
      OperationSamples& of = samples[{name, task.pass}];
      if (work.flops > 0) {
        of.by_flops.push_back({work.flops, seconds});
      } else if (work.memory_bytes > 0) {
        of.by_bytes.push_back({work.memory_bytes, seconds});
      }
    }
  }
}

// A line where there are two sizes, else what the one size costs per FLOP or byte.
Line line_or_rate(const std::vector<Sample>& samples) {
  if (has_two_sizes(samples)) {
    return fit_line(samples);
  }
  const Sample median = median_table(samples).front();
  Line line;
  line.seconds_per_unit = median.seconds / median.size;
  line.fit.num_samples = static_cast<int>(samples.size());
  return line;
}

OperationCost fit_operation(const OperationKey& key, const OperationSamples& samples) {
  const bool has_flops = !samples.by_flops.empty();
  const std::vector<Sample>& of = has_flops ? samples.by_flops : samples.by_bytes;
  const Line line = line_or_rate(of);
  OperationCost cost;
  cost.operation = key.first;
  cost.pass = key.second;
  cost.fit.num_samples = line.fit.num_samples;
  cost.points = table_instead(line, of);
  if (cost.points.empty()) {
    cost.startup_seconds = line.startup_seconds;
    (has_flops ? cost.seconds_per_flop : cost.seconds_per_byte) = line.seconds_per_unit;
    cost.fit = line.fit;
  }
  return cost;
}

class Calibration {
 public:
  explicit Calibration(const Measure& measure) : measure_(measure) {}

  Profile run(const ProbePlan& plan) && {
    launches(plan.launches);
    for (const PlannedCollective& planned : plan.collectives) {
      const Program& program = planned.probe.program;
      profile_.collectives.push_back(
          fit_collective(planned, collective_samples(program, measure_(program))));
    }
    for (const Probe& probe : plan.pairs) {
      pair(probe);
    }
    operations(plan.operations);
    state_rates(*plan.cluster, profile_);
    return std::move(profile_);
  }

 private:
  // How much longer two AlltoAlls take at once than one: 2 where one fills its port, 1 where its
  // bottleneck is its own.
  void pair(const Probe& probe) {
    std::vector<double> factors;
    for (const Trace& run : measure_(probe.program)) {
      const std::map<int, double> seconds = collective_seconds(run);
      factors.push_back(std::max(seconds.at(1), seconds.at(2)) / seconds.at(0));
    }
    profile_.environment.push_back(
        fmt::format("{}: {:.2f} times one alone", probe.name, quantile(factors, 0.5)));
  }

  void operations(const std::vector<Probe>& probes) {
    std::map<OperationKey, OperationSamples> samples;
    for (const Probe& probe : probes) {
      add_operation_samples(probe.program, measure_(probe.program), samples);
    }
    for (const auto& [key, of] : samples) {
      profile_.operations.push_back(fit_operation(key, of));
    }
  }

  // The mean distance between launches.
  void launches(const Probe& probe) {
    std::vector<double> overheads;
    for (const Trace& run : measure_(probe.program)) {
      Time last;
      for (const TaskSpan& span : run.spans) {
        last = std::max(last, span.launched);
      }
      overheads.push_back(last.seconds() / static_cast<double>(probe.program.tasks.size()));
    }
    profile_.launch_overhead_seconds = quantile(overheads, 0.5);
  }

  const Measure& measure_;
  Profile profile_;
};

}  // namespace

Profile calibrate(const ProbePlan& plan, const Measure& measure) {
  return Calibration(measure).run(plan);
}

}  // namespace moesim
