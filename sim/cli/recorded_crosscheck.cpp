#include "sim/cli/recorded_crosscheck.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/core.h>

#include "calibration/calibrate.h"
#include "sim/base/error.h"
#include "sim/base/hash.h"
#include "sim/cli/backend.h"
#include "sim/cli/calibration.h"
#include "sim/cli/gpu_check_plan.h"
#include "sim/cli/lineup.h"
#include "sim/cli/subject.h"

namespace moesim {
namespace {

// Recorded runs by the hash of their Program's file.
class Record {
 public:
  Record(const GpuCheck& check, std::string path) : path_(std::move(path)) {
    for (const MeasuredProgram& measured : check.programs) {
      by_hash_.emplace(measured.hash, &measured);
    }
  }

  [[nodiscard]] std::vector<Trace> traces(const Program& program) const {
    const auto found = by_hash_.find(content_hash(program_to_json(program)));
    if (found == by_hash_.end()) {
      throw Error(path_,
                  fmt::format("no runs of {} as this version makes it; it was cut off, or the file "
                              "is of another version",
                              program.name));
    }
    return measured_traces(*found->second, program, path_);
  }

 private:
  std::string path_;
  std::map<std::string, const MeasuredProgram*> by_hash_;
};

RepeatedRuns as_runs(std::vector<Trace> traces) {
  RepeatedRuns runs;
  for (Trace& trace : traces) {
    runs.accepted.push_back({std::move(trace), Time::zero()});
  }
  return runs;
}

PlanOptions recorded_plan() {
  PlanOptions plan;
  plan.degree = DegreeOption{.text = "2", .forward = kRecordedDegree, .backward = kRecordedDegree};
  return plan;
}

// The Program is as it was recorded, with the scenario's profile; its prediction is from `profile`.
ScheduleComparison make_row(const Inputs& inputs,
                            const std::string& schedule,
                            const Profile& profile,
                            const Record& record) {
  Subject subject = plan_subject(inputs, schedule, recorded_plan());
  std::vector<Trace> traces = record.traces(subject.program());
  subject.profile = profile;
  const Trace predicted = simulate(subject, {});
  ScheduleComparison row;
  row.schedule = schedule;
  row.forward_degree = kRecordedDegree;
  row.backward_degree = kRecordedDegree;
  row.predicted_seconds = predicted.end.seconds();
  row.kinds = compare_kinds(subject.program(), predicted, traces);
  row.measured = measured_runs(as_runs(std::move(traces)));
  return row;
}

}  // namespace

Crosscheck recorded_crosscheck(const GpuCheck& check,
                               const Inputs& inputs,
                               const std::string& path) {
  const Record record(check, path);
  const Lineup lineup = choose_lineup(inputs.scenario, {}, "");
  const ProbePlan probes = plan_for(inputs, lineup.schedules, true);
  Profile profile =
      calibrate(probes, [&](const Program& program) { return record.traces(program); });
  profile.name = "recorded";
  Crosscheck crosscheck;
  crosscheck.backend = "cuda";
  crosscheck.baseline = lineup.baseline;
  for (const std::string& schedule : lineup.schedules) {
    try {
      crosscheck.rows.push_back(make_row(inputs, schedule, profile, record));
    } catch (const Error& error) {
      if (schedule == lineup.baseline) {
        throw;
      }
      crosscheck.not_run.push_back(fmt::format("{}: {}", schedule, error.what()));
    }
  }
  return crosscheck;
}

}  // namespace moesim
