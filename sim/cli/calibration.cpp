#include "sim/cli/calibration.h"

#include <fmt/core.h>

#include "calibration/calibrate.h"
#include "sim/base/error.h"
#include "sim/cli/evaluator.h"
#include "sim/cli/progress.h"
#include "sim/schedule/schedule.h"

namespace moesim {
namespace {

// Parm chooses between two schedules when it has costs.
std::vector<std::string> variants_of(const std::string& schedule) {
  return schedule == "parm" ? std::vector<std::string>{"parm_s1", "parm_s2"}
                            : std::vector<std::string>{schedule};
}

// One Program of each schedule, without chunks: it has the collectives that the others cut.
std::vector<Program> programs_of(const Inputs& inputs, const std::vector<std::string>& schedules) {
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

}  // namespace

Profile calibrated_profile(const Inputs& inputs,
                           const std::vector<std::string>& schedules,
                           const Backend& backend) {
  const CalibrationSubject subject{
      &inputs.scenario, &inputs.cluster, programs_of(inputs, schedules), !backend.is_modelled()};
  Progress progress("probes", num_probes(subject));
  Profile profile = calibrate(subject, [&](const Program& program) {
    const ExecutedRuns executed = backend.run(program);
    progress.add_one();
    return traces(executed.runs);
  });
  profile.hardware_queues = inputs.profile.hardware_queues;
  if (backend.is_modelled()) {
    profile.gemm = inputs.profile.gemm;
    profile.memory_bytes_per_second = inputs.profile.memory_bytes_per_second;
    profile.operations = inputs.profile.operations;
  }
  profile.name = inputs.scenario.name + "_calibrated";
  profile.source = fmt::format("moesim calibrate on this machine, for scenario {} on cluster {}",
                               inputs.scenario.name,
                               inputs.cluster.name);
  std::vector<std::string> environment = backend.environment();
  environment.insert(environment.end(), profile.environment.begin(), profile.environment.end());
  profile.environment = std::move(environment);
  return profile;
}

}  // namespace moesim
