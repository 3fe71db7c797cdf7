#include "sim/cli/calibration.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "calibration/calibrate.h"
#include "calibration/probe_plan.h"
#include "sim/base/error.h"
#include "sim/cli/evaluator.h"
#include "sim/cli/machine.h"
#include "sim/cli/progress.h"
#include "sim/report/text.h"
#include "sim/schedule/schedule.h"

namespace moesim {
namespace {

// Parm chooses between two schedules when it has costs.
std::vector<std::string> variants_of(const std::string& schedule) {
  return schedule == "parm" ? std::vector<std::string>{"parm_s1", "parm_s2"}
                            : std::vector<std::string>{schedule};
}

// How often probes ran, for the profile's environment.
class RunRecord {
 public:
  void add(const std::string& probe, const RepeatedRuns& runs) {
    const auto number = static_cast<int>(runs.accepted.size());
    least_ = num_probes_++ == 0 ? number : std::min(least_, number);
    most_ = std::max(most_, number);
    num_rejected_ += runs.num_rejected;
    if (runs.spread() && runs.stopped != Stop::kSteady) {
      unsteady_.push_back(fmt::format("{} (known to {})", probe, format_percent(*runs.spread())));
    }
  }

  std::vector<std::string> lines(const StoppingRule& rule) const {
    std::string text = least_ < most_ ? fmt::format("{} to ", least_) : "";
    text += fmt::format("{} of each of {} after one that did not count",
                        counted(static_cast<size_t>(most_), "accepted run"),
                        counted(num_probes_, "probe"));
    if (rule.most > rule.least) {
      text += fmt::format(
          ", until its median was known to {}, {} at most", format_percent(rule.spread), rule.most);
    }
    std::vector<std::string> lines = {
        fmt::format("{}; {} rejected as disturbed", text, counted(num_rejected_, "run"))};
    if (rule.most > rule.least && !unsteady_.empty()) {
      lines.push_back(fmt::format("not as steady: {}", fmt::join(unsteady_, ", ")));
    }
    return lines;
  }

 private:
  size_t num_probes_ = 0;
  int least_ = 0;
  int most_ = 0;
  size_t num_rejected_ = 0;
  std::vector<std::string> unsteady_;
};

void keep_modelled(const Profile& given, Profile& profile) {
  profile.gpu = given.gpu;
  profile.gemm = given.gemm;
  profile.memory_bytes_per_second = given.memory_bytes_per_second;
  profile.operations = given.operations;
}

}  // namespace

std::vector<Program> unchunked_programs(const Inputs& inputs,
                                        const std::vector<std::string>& schedules) {
  const Evaluator evaluator = make_evaluator(inputs.cluster, inputs.profile);
  const Degrees degrees = Degrees::uniform(inputs.scenario.model.layers, 1, 1);
  std::vector<Program> programs;
  for (const std::string& schedule : schedules) {
    for (const std::string& variant : variants_of(schedule)) {
      try {
        programs.push_back(build_schedule(variant, inputs.scenario, degrees, evaluator));
      } catch (const Error&) {
        continue;  // compare and crosscheck say why it cannot
      }
    }
  }
  return programs;
}

ProbePlan plan_for(const Inputs& inputs,
                   const std::vector<std::string>& schedules,
                   bool with_operations) {
  return plan_probes({.scenario = &inputs.scenario,
                      .cluster = &inputs.cluster,
                      .programs = unchunked_programs(inputs, schedules),
                      .with_operations = with_operations});
}

std::vector<Program> probe_programs(const Inputs& inputs,
                                    const std::vector<std::string>& schedules,
                                    const Backend& backend) {
  return programs_of(plan_for(inputs, schedules, !backend.is_modelled()));
}

Profile calibrated_profile(const Inputs& inputs,
                           const std::vector<std::string>& schedules,
                           const Backend& backend) {
  const ProbePlan plan = plan_for(inputs, schedules, !backend.is_modelled());
  const std::vector<Program> programs = programs_of(plan);
  backend.require_runnable(programs);
  std::vector<std::string> environment = backend.environment();
  RunRecord record;
  Progress progress("probes", static_cast<int>(programs.size()));
  Profile profile = calibrate(plan, [&](const Program& program) {
    const ExecutedRuns executed = backend.run(program);
    record.add(program.name, executed.runs);
    progress.add_one();
    return traces(executed.runs);
  });
  profile.hardware_queues = inputs.profile.hardware_queues;
  profile.gpu = processor_name();
  if (backend.is_modelled()) {
    keep_modelled(inputs.profile, profile);
  }
  profile.name = inputs.scenario.name + "_calibrated";
  profile.source = fmt::format("moesim calibrate on this machine, for scenario {} on cluster {}",
                               inputs.scenario.name,
                               inputs.cluster.name);
  const std::vector<std::string> runs = record.lines(backend.rule());
  environment.push_back(fmt::format("seed {}", inputs.scenario.seed));
  environment.insert(environment.end(), runs.begin(), runs.end());
  environment.insert(environment.end(), profile.environment.begin(), profile.environment.end());
  profile.environment = std::move(environment);
  return profile;
}

}  // namespace moesim
