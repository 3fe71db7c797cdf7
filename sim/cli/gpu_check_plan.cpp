#include "sim/cli/gpu_check_plan.h"

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include <fmt/core.h>

#include "sim/base/error.h"
#include "sim/base/hash.h"
#include "sim/base/message.h"
#include "sim/base/version.h"
#include "sim/cli/calibration.h"
#include "sim/cli/lineup.h"
#include "sim/cli/subject.h"
#include "sim/program/role_table.h"

namespace moesim {
namespace {

PlanOptions recorded_options() {
  PlanOptions plan;
  plan.degree = DegreeOption{.text = "2", .forward = kRecordedDegree, .backward = kRecordedDegree};
  return plan;
}

PlannedProgram planned(Program program, bool times_collectives) {
  std::string hash = content_hash(program_to_json(program));
  return {std::move(program), std::move(hash), times_collectives};
}

void add_probes(const ProbePlan& probes, GpuCheckPlan& plan) {
  plan.programs.push_back(planned(probes.launches.program, false));
  for (const PlannedCollective& collective : probes.collectives) {
    plan.programs.push_back(planned(collective.probe.program, true));
  }
  for (const Probe& pair : probes.pairs) {
    plan.programs.push_back(planned(pair.program, true));
  }
  for (const Probe& operations : probes.operations) {
    plan.programs.push_back(planned(operations.program, false));
  }
}

// Judges the runs of one Program of the file.
class RunCheck {
 public:
  RunCheck(const PlannedProgram& planned, std::string location)
      : planned_(planned), roles_(planned.program), location_(std::move(location)) {}

  void check(const std::vector<MeasuredRun>& runs) const {
    for (std::size_t i = 0; i < runs.size(); ++i) {
      check_spans(runs[i], fmt::format("{}.runs[{}].spans", location_, i));
    }
  }

 private:
  const Program& program() const { return planned_.program; }

  int num_expected() const {
    std::size_t number = 0;
    for (const Task& task : program().tasks) {
      for (const int role : roles_.running(task)) {
        number += roles_.ranks(role).size();
      }
    }
    return static_cast<int>(number);
  }

  bool is_run(const TaskSpan& span) const {
    if (span.rank >= program().num_ranks || span.task >= static_cast<int>(program().tasks.size())) {
      return false;
    }
    const std::vector<int>& running = roles_.running(program().tasks[span.task]);
    return std::find(running.begin(), running.end(), roles_.role_of(span.rank)) != running.end();
  }

  // No span stands twice (parse_gpu_check): as many as there should be are all of them.
  void check_spans(const MeasuredRun& run, const std::string& location) const {
    for (const TaskSpan& span : run.spans) {
      if (!is_run(span)) {
        throw Error(location,
                    fmt::format("task {} on rank {}, which {} does not run; the file is damaged",
                                span.task,
                                span.rank,
                                program().name));
      }
    }
    if (static_cast<int>(run.spans.size()) != num_expected()) {
      throw Error(
          location,
          fmt::format("{} spans, but the tasks of {} run {} times on its ranks; the file is "
                      "damaged",
                      run.spans.size(),
                      program().name,
                      num_expected()));
    }
    if (planned_.times_collectives) {
      check_collectives(run, location);
    }
  }

  // Of the slowest member a cost is made, which no time is none of.
  void check_collectives(const MeasuredRun& run, const std::string& location) const {
    std::map<int, Time> slowest;
    for (const TaskSpan& span : run.spans) {
      if (std::holds_alternative<Collective>(program().tasks[span.task].descriptor)) {
        Time& time = slowest[span.task];
        time = std::max(time, span.end - span.transfer);
      }
    }
    for (const auto& [task, time] : slowest) {
      if (time == Time::zero()) {
        throw Error(location,
                    fmt::format("collective {} of {} takes no time on any rank; measure it anew",
                                program().tasks[task].name,
                                program().name));
      }
    }
  }

  const PlannedProgram& planned_;
  RoleTable roles_;
  std::string location_;
};

const PlannedProgram& planned_for(const GpuCheckPlan& plan,
                                  const MeasuredProgram& measured,
                                  const std::string& location,
                                  const std::string& version) {
  for (const PlannedProgram& candidate : plan.programs) {
    if (candidate.hash != measured.hash) {
      continue;
    }
    if (candidate.program.name != measured.name ||
        candidate.program.num_ranks != measured.num_ranks) {
      throw Error(
          location,
          fmt::format("{} on {} ranks, but its hash is that of {} on {}; the file is damaged",
                      in_quotes(measured.name),
                      measured.num_ranks,
                      in_quotes(candidate.program.name),
                      candidate.program.num_ranks));
    }
    return candidate;
  }
  throw Error(
      location + ".hash",
      fmt::format("{} is of no Program that this build makes of the check's scenarios ({} on "
                  "{} ranks, measured by moesim {}; this is {}); read the file with the "
                  "build that it is of, or run tests/gpu/run.sh anew",
                  in_quotes(measured.hash),
                  in_quotes(measured.name),
                  measured.num_ranks,
                  version,
                  moesim::version()));
}

void check_equality(const std::vector<PlannedEquality>& planned,
                    const EqualityCase& one,
                    const std::string& location) {
  const auto found = std::find_if(planned.begin(), planned.end(), [&](const PlannedEquality& of) {
    return of.schedule == one.program && of.num_ranks == one.num_ranks;
  });
  if (found == planned.end()) {
    throw Error(location,
                fmt::format("this build compares no {} on {} ranks; read the file with the build "
                            "that it is of",
                            in_quotes(one.program),
                            one.num_ranks));
  }
  if (one.failure.empty() && one.num_buffers != found->num_buffers) {
    throw Error(location + ".num_buffers",
                fmt::format("{} buffers, but {} has {} as this build makes it; read the file with "
                            "the build that it is of",
                            one.num_buffers,
                            found->schedule,
                            found->num_buffers));
  }
}

void check_equality(const std::vector<PlannedEquality>& planned,
                    const std::vector<EqualityCase>& cases,
                    const std::string& location) {
  for (std::size_t i = 0; i < cases.size(); ++i) {
    check_equality(planned, cases[i], fmt::format("{}[{}]", location, i));
  }
}

std::vector<PlannedEquality> plan_equality(const std::vector<Inputs>& compared) {
  std::vector<PlannedEquality> planned;
  for (const Inputs& inputs : compared) {
    for (const std::string& schedule : choose_lineup(inputs.scenario, {}, "").schedules) {
      const Program program = plan_subject(inputs, schedule, recorded_options()).program();
      planned.push_back({schedule,
                         program.num_ranks,
                         static_cast<int>(program.tensors.size()) * program.num_ranks});
    }
  }
  return planned;
}

}  // namespace

GpuCheckPlan plan_gpu_check(const GpuCheckScenarios& scenarios) {
  GpuCheckPlan plan;
  plan.equality = plan_equality(scenarios.compared);
  plan.nccl = plan_equality(scenarios.in_processes);
  for (const Inputs& inputs : scenarios.timed) {
    const Lineup lineup = choose_lineup(inputs.scenario, {}, "");
    add_probes(plan_for(inputs, lineup.schedules, true), plan);
    for (const std::string& schedule : lineup.schedules) {
      const Subject subject = plan_subject(inputs, schedule, recorded_options());
      plan.programs.push_back(planned(subject.program(), false));
    }
  }
  return plan;
}

void check_against(const GpuCheckPlan& plan, const GpuCheck& check, const std::string& path) {
  check_equality(plan.equality, check.equality, path + ": equality");
  check_equality(plan.nccl, check.nccl, path + ": nccl");
  for (std::size_t i = 0; i < check.attention.size(); ++i) {
    if (check.attention[i].program != kAttentionProgram) {
      throw Error(fmt::format("{}: attention[{}].program", path, i),
                  fmt::format("this build compares the attention of no {}; read the file with the "
                              "build that it is of",
                              in_quotes(check.attention[i].program)));
    }
  }
  for (std::size_t i = 0; i < check.programs.size(); ++i) {
    const MeasuredProgram& measured = check.programs[i];
    const std::string location = fmt::format("{}: programs[{}]", path, i);
    RunCheck(planned_for(plan, measured, location, check.version), location).check(measured.runs);
  }
}

}  // namespace moesim
