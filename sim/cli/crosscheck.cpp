#include "calibration/crosscheck.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/analysis/critical_path.h"
#include "sim/base/error.h"
#include "sim/cli/backend.h"
#include "sim/cli/calibration.h"
#include "sim/cli/commands.h"
#include "sim/cli/inputs.h"
#include "sim/cli/lineup.h"
#include "sim/cli/output.h"
#include "sim/cli/progress.h"
#include "sim/cli/subject.h"
#include "sim/io/files.h"
#include "sim/io/output_paths.h"
#include "sim/report/timeline.h"
#include "sim/schedule/schedule.h"

namespace moesim {
namespace {

// A schedule's Program with what was predicted for it and what it took.
struct Checked {
  Subject subject;
  Trace predicted;
  RepeatedRuns measured;
};

Checked predict(const Inputs& inputs, const std::string& schedule, const PlanOptions& plan) {
  Checked checked{plan_subject(inputs, schedule, plan), {}, {}};
  require_verified(checked.subject);
  checked.predicted = simulate(checked.subject, {});
  return checked;
}

UnmeasuredSchedule not_measured(const Checked& checked, const std::string& reason) {
  const SimulationResult result = make_summary(result_inputs(checked.subject, checked.predicted));
  return {.schedule = checked.subject.schedule,
          .forward_degree = result.forward_degree,
          .backward_degree = result.backward_degree,
          .predicted_seconds = checked.predicted.end.seconds(),
          .reason = reason};
}

ScheduleComparison make_row(const Checked& checked) {
  const SimulationResult result = make_summary(result_inputs(checked.subject, checked.predicted));
  ScheduleComparison row;
  row.schedule = checked.subject.schedule;
  row.forward_degree = result.forward_degree;
  row.backward_degree = result.backward_degree;
  row.predicted_seconds = checked.predicted.end.seconds();
  row.measured = measured_runs(checked.measured);
  row.kinds = compare_kinds(checked.subject.program(), checked.predicted, traces(checked.measured));
  return row;
}

// The predicted and the measured timeline, on axes that end at the same time. The first draws from
// `checked`, which must live as long.
void add_timelines(const Checked& checked, std::vector<Timeline>& timelines) {
  const Program& program = checked.subject.program();
  const Trace& measured = checked.measured.typical().trace;
  const int queues = hardware_queues(checked.subject.profile_or_null());
  const Time end = std::max(checked.predicted.end, measured.end);
  for (const auto& [trace, how] :
       {std::pair{&checked.predicted, "predicted"}, std::pair{&measured, "measured"}}) {
    timelines.push_back(
        {&program,
         trace,
         critical_path(program, *trace, queues),
         {.title = fmt::format("{}, {}", checked.subject.schedule, how), .axis_end = end}});
  }
}

std::string picture(const std::vector<Checked>& all) {
  std::vector<Timeline> timelines;
  for (const Checked& checked : all) {
    add_timelines(checked, timelines);
  }
  return to_svg(timelines);
}

// What predictions and executions rest on, each once, in order of first use.
std::vector<std::string> assumptions_of(const std::vector<Checked>& all) {
  std::vector<std::string> assumptions;
  for (const Checked& checked : all) {
    for (const Trace* trace : {&checked.predicted, &checked.measured.typical().trace}) {
      for (const std::string& assumption : trace->assumptions) {
        if (std::find(assumptions.begin(), assumptions.end(), assumption) == assumptions.end()) {
          assumptions.push_back(assumption);
        }
      }
    }
  }
  return assumptions;
}

Error baseline_cannot_run(const std::string& baseline, const std::vector<std::string>& not_run) {
  return Error(fmt::format("the baseline {} cannot run; choose another one with --baseline:\n  {}",
                           baseline,
                           fmt::join(not_run, "\n  ")));
}

// Takes out the schedules that cannot run with these degrees, and says why. Throws Error where the
// baseline is among them.
std::vector<std::string> take_out_unplannable(const Scenario& scenario, Lineup& lineup) {
  std::vector<std::string> not_run;
  std::erase_if(lineup.schedules, [&](const std::string& schedule) {
    try {
      require_plannable(schedule, scenario);
      return false;
    } catch (const Error& error) {
      not_run.push_back(fmt::format("{}: {}", schedule, error.what()));
      return true;
    }
  });
  if (std::ranges::find(lineup.schedules, lineup.baseline) == lineup.schedules.end()) {
    throw baseline_cannot_run(lineup.baseline, not_run);
  }
  return not_run;
}

// --modelled takes the operations' costs from the profile; its collectives are measured.
bool calibrates(const CrosscheckOptions& options) {
  return options.input.profile.empty() || options.backend.modelled;
}

// Before anything runs: schedules and probes together.
void require_runnable(const CrosscheckOptions& options,
                      const Inputs& inputs,
                      const Lineup& lineup,
                      const Backend& backend) {
  std::vector<Program> programs = unchunked_programs(inputs, lineup.schedules);
  if (calibrates(options)) {
    const std::vector<Program> probes = probe_programs(inputs, lineup.schedules, backend);
    programs.insert(programs.end(), probes.begin(), probes.end());
  }
  backend.require_runnable(programs);
}

// The schedules that were measured, those whose runs failed, and why others cannot run.
struct Checks {
  std::vector<Checked> checked;
  std::vector<UnmeasuredSchedule> not_measured;
  std::vector<std::string> not_run;
};

// A schedule that fails does not keep the others from being measured.
void measure(const Backend& backend, Checked checked, Checks& checks) {
  try {
    checked.measured = backend.run(checked.subject.program()).runs;
    checks.checked.push_back(std::move(checked));
  } catch (const Failure& failure) {
    checks.not_measured.push_back(not_measured(checked, failure.what()));
  }
}

// Adds the schedules of the lineup.
void check_all(const CrosscheckOptions& options,
               const Inputs& inputs,
               const Lineup& lineup,
               const Backend& backend,
               Checks& checks) {
  Progress progress("schedules", static_cast<int>(lineup.schedules.size()));
  for (const std::string& schedule : lineup.schedules) {
    try {
      measure(backend, predict(inputs, schedule, options.plan), checks);
    } catch (const Error& error) {
      checks.not_run.push_back(fmt::format("{}: {}", schedule, error.what()));
    }
    progress.add_one();
  }
}

// The baseline; the first schedule that was measured where the baseline was not.
std::string measured_baseline(const Checks& checks, const std::string& baseline) {
  for (const Checked& checked : checks.checked) {
    if (checked.subject.schedule == baseline) {
      return baseline;
    }
  }
  for (const UnmeasuredSchedule& row : checks.not_measured) {
    if (checks.checked.empty()) {
      throw Failure(fmt::format("no schedule could be measured; {}", row.reason));
    }
    if (row.schedule == baseline) {
      return checks.checked.front().subject.schedule;
    }
  }
  throw baseline_cannot_run(baseline, checks.not_run);
}

Crosscheck make_crosscheck(const Checks& checks,
                           const BackendOptions& backend,
                           const std::string& baseline) {
  Crosscheck crosscheck;
  crosscheck.backend = backend.name;
  crosscheck.baseline = baseline;
  crosscheck.modelled = backend.modelled;
  for (const Checked& checked : checks.checked) {
    crosscheck.rows.push_back(make_row(checked));
  }
  crosscheck.not_measured = checks.not_measured;
  crosscheck.not_run = checks.not_run;
  crosscheck.assumptions = assumptions_of(checks.checked);
  return crosscheck;
}

}  // namespace

int run_crosscheck(const CrosscheckOptions& options) {
  Inputs inputs = load_scenario_inputs(options.input, false);
  check_outputs({options.svg}, files_of(inputs));
  Lineup lineup = choose_lineup(inputs.scenario, options.schedules, options.baseline);
  Checks checks;
  checks.not_run = take_out_unplannable(with_degrees(inputs.scenario, options.plan.degree), lineup);
  const Backend backend(options.backend, inputs);
  require_runnable(options, inputs, lineup, backend);
  if (calibrates(options)) {
    inputs.profile = calibrated_profile(inputs, lineup.schedules, backend);
  }
  check_all(options, inputs, lineup, backend, checks);
  const Crosscheck crosscheck =
      make_crosscheck(checks, options.backend, measured_baseline(checks, lineup.baseline));
  if (!options.svg.empty()) {
    write_file_atomically(options.svg, picture(checks.checked));
  }
  print_out(options.json ? to_json(crosscheck) : to_table(crosscheck));
  const bool missed = options.max_error && worst_error(crosscheck) > *options.max_error;
  return missed ? kExitMissed : checks.not_measured.empty() ? kExitOk : kExitFailed;
}

}  // namespace moesim
