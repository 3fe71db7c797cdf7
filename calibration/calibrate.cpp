#include "calibration/calibrate.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "calibration/probes.h"
#include "calibration/robust_fit.h"
#include "sim/cluster/groups.h"
#include "sim/program/work.h"

namespace moesim {
namespace {

constexpr int kNumLaunches = 200;
constexpr int kNumSizes = 5;
// Parts of the scenario's sequence on which operations are probed.
const std::vector<double> kShares = {0.125, 0.25, 0.5, 1};

// The smallest and the largest of a collective's sizes in bytes per rank.
struct SizeRange {
  int64_t least = 0;
  int64_t most = 0;
};

using CollectiveCase = std::pair<CollectiveOperation, Span>;

// The collectives that move data in the Programs. SHIFT costs what the profile has for AlltoAll.
std::map<CollectiveCase, SizeRange> collective_cases(const CalibrationSubject& subject) {
  std::map<CollectiveCase, SizeRange> cases;
  for (const Program& program : subject.programs) {
    for (const Task& task : program.tasks) {
      const auto* collective = std::get_if<Collective>(&task.descriptor);
      if (collective == nullptr || program.groups[collective->group].members.front().size() < 2) {
        continue;
      }
      const bool is_shift = collective->operation == CollectiveOperation::kShift;
      const auto operation = is_shift ? CollectiveOperation::kAllToAll : collective->operation;
      const Span span =
          span_of(*subject.cluster, program.groups[collective->group].members.front());
      const auto [found, is_new] =
          cases.emplace(CollectiveCase{operation, span}, SizeRange{collective->bytes, 0});
      found->second.least = std::min(found->second.least, collective->bytes);
      found->second.most = std::max(found->second.most, collective->bytes);
    }
  }
  return cases;
}

// Two collectives that are to share a port must last long enough to meet.
constexpr int64_t kLeastPair = 128 * 1024;

// Below, a collective is its start-up, and probes round up to whole rows.
constexpr double kLeastMost = 32 * 1024;

// Sizes from the least to the most, each the same factor above the one before.
std::vector<int64_t> ladder(const SizeRange& range) {
  const double most = std::max(kLeastMost, static_cast<double>(range.most));
  const double least = std::clamp(static_cast<double>(range.least), most / 64, most / 4);
  std::vector<int64_t> sizes;
  for (int i = 0; i < kNumSizes; ++i) {
    const double exponent = static_cast<double>(i) / (kNumSizes - 1);
    sizes.push_back(static_cast<int64_t>(least * std::pow(most / least, exponent)));
  }
  return sizes;
}

bool has_two_sizes(const std::vector<Sample>& samples) {
  return std::any_of(samples.begin(), samples.end(), [&](const Sample& sample) {
    return sample.size != samples.front().size;
  });
}

// How far a line lies from the median of the times of any size.
double worst_of_medians(const Line& line, const std::vector<Sample>& samples) {
  double worst = 0;
  for (const Sample& median : median_table(samples)) {
    worst = std::max(worst, std::abs(1 - line.at(median.size) / median.seconds));
  }
  return worst;
}

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

// What stands instead of a line that lies too far from the medians; empty where it does not.
std::vector<MeasuredPoint> table_instead(const Line& line, const std::vector<Sample>& samples) {
  std::vector<MeasuredPoint> points;
  if (worst_of_medians(line, samples) > kWorstResidual) {
    for (const Sample& point : median_table(samples)) {
      points.push_back({static_cast<int64_t>(point.size), point.seconds});
    }
  }
  return points;
}

CollectiveCost fit_collective(const CollectiveCase& which,
                              int group_size,
                              const std::vector<Sample>& samples) {
  const Line line = fit_line(samples);
  CollectiveCost cost;
  cost.operation = which.first;
  cost.span = which.second;
  cost.group_size = group_size;
  cost.fit.num_samples = line.fit.num_samples;
  cost.points = table_instead(line, samples);
  if (cost.points.empty()) {
    cost.startup_seconds = line.startup_seconds;
    cost.seconds_per_byte = line.seconds_per_unit;
    cost.fit = line.fit;
  }
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

// By span, how many bytes the two collectives have that are to meet there.
std::map<Span, int64_t> pair_sizes(const std::map<CollectiveCase, SizeRange>& cases) {
  std::map<Span, int64_t> sizes;
  for (const auto& [which, range] : cases) {
    sizes[which.second] = std::max({sizes[which.second], range.most, kLeastPair});
  }
  return sizes;
}

class Calibration {
 public:
  Calibration(const CalibrationSubject& subject, const Measure& measure)
      : subject_(subject), measure_(measure) {}

  Profile run() && {
    profile_.intra_node_rate = subject_.cluster->intra_node.bytes_per_second;
    profile_.inter_node_rate = subject_.cluster->inter_node.bytes_per_second;
    launches();
    const auto cases = collective_cases(subject_);
    for (const auto& [which, range] : cases) {
      collective(which, range);
    }
    pairs(cases);
    if (subject_.with_operations) {
      operations();
    }
    return std::move(profile_);
  }

 private:
  void collective(const CollectiveCase& which, const SizeRange& range) {
    const Probe probe =
        collective_probe(*subject_.cluster, which.first, which.second, ladder(range));
    const Group group = span_group(*subject_.cluster, which.second);
    profile_.collectives.push_back(
        fit_collective(which,
                       static_cast<int>(group.members.front().size()),
                       collective_samples(probe.program, measure_(probe.program))));
  }

  // How much longer two AlltoAlls take at once than one: 2 where one fills its port, 1 where its
  // bottleneck is its own.
  void pairs(const std::map<CollectiveCase, SizeRange>& cases) {
    for (const auto& [span, bytes] : pair_sizes(cases)) {
      const Probe probe = paired_probe(*subject_.cluster, span, bytes);
      std::vector<double> factors;
      for (const Trace& run : measure_(probe.program)) {
        const std::map<int, double> seconds = collective_seconds(run);
        factors.push_back(std::max(seconds.at(1), seconds.at(2)) / seconds.at(0));
      }
      profile_.environment.push_back(
          fmt::format("{}: {:.2f} times one alone", probe.name, quantile(factors, 0.5)));
    }
  }

  void operations() {
    std::map<OperationKey, OperationSamples> samples;
    for (const Probe& probe : operation_probes(*subject_.scenario, kShares)) {
      add_operation_samples(probe.program, measure_(probe.program), samples);
    }
    for (const auto& [key, of] : samples) {
      profile_.operations.push_back(fit_operation(key, of));
    }
  }

  // The mean distance between launches.
  void launches() {
    const Probe probe = launch_probe(subject_.cluster->num_gpus(), kNumLaunches);
    std::vector<double> overheads;
    for (const Trace& run : measure_(probe.program)) {
      Time last;
      for (const TaskSpan& span : run.spans) {
        last = std::max(last, span.launched);
      }
      overheads.push_back(last.seconds() / kNumLaunches);
    }
    profile_.launch_overhead_seconds = quantile(overheads, 0.5);
  }

  const CalibrationSubject& subject_;
  const Measure& measure_;
  Profile profile_;
};

}  // namespace

int num_probes(const CalibrationSubject& subject) {
  const auto cases = collective_cases(subject);
  const size_t num_operations =
      subject.with_operations ? operation_probes(*subject.scenario, kShares).size() : 0;
  return static_cast<int>(1 + cases.size() + pair_sizes(cases).size() + num_operations);
}

Profile calibrate(const CalibrationSubject& subject, const Measure& measure) {
  return Calibration(subject, measure).run();
}

}  // namespace moesim
