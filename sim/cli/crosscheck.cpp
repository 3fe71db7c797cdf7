#include "calibration/crosscheck.h"

#include <fmt/core.h>

#include "sim/analysis/critical_path.h"
#include "sim/cli/backend.h"
#include "sim/cli/calibration.h"
#include "sim/cli/commands.h"
#include "sim/cli/inputs.h"
#include "sim/cli/lineup.h"
#include "sim/cli/output.h"
#include "sim/cli/progress.h"
#include "sim/cli/subject.h"
#include "sim/io/files.h"
#include "sim/report/timeline.h"

namespace moesim {
namespace {

// A schedule's Program with what was predicted for it and what it took.
struct Checked {
  Subject subject;
  Trace predicted;
  RepeatedRuns measured;
};

Checked check(const Inputs& inputs,
              const std::string& schedule,
              const PlanOptions& plan,
              const Backend& backend) {
  Checked checked{plan_subject(inputs, schedule, plan), {}, {}};
  require_verified(checked.subject);
  checked.predicted = simulate(checked.subject, {});
  checked.measured = backend.run(checked.subject.program());
  return checked;
}

ScheduleComparison make_row(const Checked& checked) {
  const SimulationResult result = make_summary(result_inputs(checked.subject, checked.predicted));
  ScheduleComparison row;
  row.schedule = checked.subject.schedule;
  row.forward_degree = result.forward_degree;
  row.backward_degree = result.backward_degree;
  row.predicted_seconds = checked.predicted.end.seconds();
  row.measured_seconds = checked.measured.iteration().median.seconds();
  row.measured_p25_seconds = checked.measured.iteration().p25.seconds();
  row.num_runs = static_cast<int>(checked.measured.accepted.size());
  row.num_rejected = checked.measured.num_rejected;
  row.lateness_seconds = checked.measured.lateness().seconds();
  row.kinds =
      compare_kinds(checked.subject.program(), checked.predicted, traces(checked.measured));
  return row;
}

// The predicted and the measured timeline of one schedule, one above the other on one axis.
std::string picture(const Checked& checked) {
  const Program& program = checked.subject.program();
  const Trace& measured = checked.measured.typical().trace;
  const int queues = hardware_queues(checked.subject.profile_or_null());
  const Time axis_end = std::max(checked.predicted.end, measured.end);
  std::vector<std::string> pictures;
  for (const auto& [trace, title] : {std::pair{&checked.predicted, "predicted"},
                                     std::pair{&measured, "measured"}}) {
    pictures.push_back(to_svg(program,
                              *trace,
                              critical_path(program, *trace, queues),
                              {.title = fmt::format("{}, {}", checked.subject.schedule, title),
                               .axis_end = axis_end}));
  }
  return stack_svgs(pictures);
}

Profile take_profile(const CrosscheckOptions& options,
                     const Inputs& inputs,
                     const Lineup& lineup,
                     const Backend& backend) {
  return options.input.profile.empty() ? calibrated_profile(inputs, lineup.schedules, backend)
                                       : inputs.profile;
}

}  // namespace

int run_crosscheck(const CrosscheckOptions& options) {
  Inputs inputs = load_scenario_inputs(options.input);
  const Lineup lineup = choose_lineup(inputs.scenario, options.schedules, options.baseline);
  const Backend backend(options.backend, inputs.cluster);
  inputs.profile = take_profile(options, inputs, lineup, backend);
  Crosscheck crosscheck{options.backend.name, lineup.baseline, {}, {}};
  std::string drawing;
  {
    Progress progress("schedules", static_cast<int>(lineup.schedules.size()));
    for (const std::string& schedule : lineup.schedules) {
      const Checked checked = check(inputs, schedule, options.plan, backend);
      crosscheck.rows.push_back(make_row(checked));
      if (!options.svg.empty() && schedule == lineup.schedules.back()) {
        drawing = picture(checked);
      }
      progress.add_one();
    }
  }
  if (!options.svg.empty()) {
    write_file_atomically(options.svg, drawing);
  }
  print_out(options.json ? to_json(crosscheck) : to_table(crosscheck));
  const bool missed = options.max_error && worst_error(crosscheck) > *options.max_error;
  return missed ? kExitMissed : kExitOk;
}

}  // namespace moesim
