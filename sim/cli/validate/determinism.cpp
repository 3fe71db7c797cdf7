
#include <fmt/format.h>

#include "sim/base/hash.h"
#include "sim/cli/subject.h"
#include "sim/cli/validate/in_workers.h"
#include "sim/cli/validate/sections.h"
#include "sim/report/result.h"

namespace moesim::validation {
namespace {

// Small scenarios that differ in sizes, degrees, routing, queues and schedule.
Inputs other_scenario(const Inputs& base, int index) {
  Inputs other = base;
  ModelConfig& model = other.scenario.model;
  model.layers = 1 + index % 3;
  model.batch = 1 + index % 4;
  model.sequence = 256 << (index % 3);
  const bool skewed = index % 5 == 0;
  other.scenario.routing.kind = skewed ? RoutingKind::kZipf : RoutingKind::kBalanced;
  other.scenario.routing.zipf_exponent = 1;
  other.scenario.seed = static_cast<std::uint64_t>(index);
  DegreeConfig& degrees = other.scenario.degrees;
  degrees.forward = degrees.backward = 1 + index % kMaxDegree;
  degrees.non_moe = 1;
  other.profile.hardware_queues = index % 2 == 0 ? 1 : 32;
  return other;
}

const std::string& schedule_of(int index) {
  const std::vector<std::string>& names = schedule_names();
  return names[static_cast<std::size_t>(index) % names.size()];
}

// What a run says of the scenario under every schedule, one worker for each when there are enough.
std::string all_reports(const DeterminismStudy& study, int num_workers) {
  const WorkerRun run{"schedules", static_cast<int>(schedule_names().size()), num_workers};
  std::string text;
  for (const std::string& report : in_workers(
           run, [&study](int index) { return study.report(study.inputs, schedule_of(index)); })) {
    text += report;
  }
  return text;
}

// The same in one process that has simulated other scenarios before.
std::string reports_after_others(const DeterminismStudy& study) {
  const auto work = [&study](int) {
    for (int other = 0; other < study.num_others; ++other) {
      study.report(other_scenario(study.inputs, other), schedule_of(other));
    }
    std::string text;
    for (const std::string& schedule : schedule_names()) {
      text += study.report(study.inputs, schedule);
    }
    return text;
  };
  return in_workers({"scenarios after others", 1, 1}, work).front();
}

}  // namespace

// The text itself has megabytes.
std::string report_hash(const Inputs& inputs, const std::string& schedule) {
  const Subject subject = plan_subject(inputs, schedule, {});
  const Trace trace = simulate(subject, {});
  const SimulationResult result = make_result(result_inputs(subject, trace));
  return content_hash(to_json(result, subject.program(), trace)) + '\n';
}

Finding study_determinism(const DeterminismStudy& study) {
  const std::string once = all_reports(study, 1);
  SectionWriter writer;
  writer.say(fmt::format(
      "What `simulate --json --spans` prints for {} under all {} schedules, every search of "
      "degrees "
      "included: hash {}. The others that run before are {} small scenarios that differ in sizes, "
      "degrees, skew, hardware queues and schedule.",
      study.inputs.scenario.name,
      schedule_names().size(),
      content_hash(once),
      study.num_others));
  Table table({"Compared with", "hash", "standing"});
  const auto compare = [&](const std::string& how, const std::string& text) {
    table.add({how, content_hash(text), writer.verdict(text == once)});
  };
  compare("a second run", all_reports(study, 1));
  compare("2 workers", all_reports(study, 2));
  compare(fmt::format("after {} others in the same process", study.num_others),
          reports_after_others(study));
  writer.add(table);
  return std::move(writer).finish();
}

}  // namespace moesim::validation
