#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "sim/base/error.h"
#include "sim/cli/bottleneck_range.h"
#include "sim/cli/commands.h"
#include "sim/cli/inputs.h"
#include "sim/cli/lineup.h"
#include "sim/cli/output.h"
#include "sim/cli/progress.h"
#include "sim/cli/subject.h"
#include "sim/engine/uncontended_work.h"
#include "sim/report/result.h"

namespace moesim {
namespace {

SimulationResult predict(const Subject& subject, const CompareOptions& options) {
  UncontendedWork work;
  const Trace trace = simulate(subject, {.resolution = options.resolution, .work = &work});
  const ResultInputs for_result = result_inputs(subject, trace);
  return make_result(for_result, uncontended_bounds(for_result, work));
}

// A schedule that this scenario does not suit says so in its row: the others go on, and their
// subjects are added where they are looked at again.
ComparisonRow row_of(const Inputs& inputs,
                     const std::string& schedule,
                     const CompareOptions& options,
                     std::vector<Subject>& subjects) {
  try {
    Subject subject = plan_subject(inputs, schedule, options.plan, options.resolution);
    require_verified(subject);
    ComparisonRow row = row_of(predict(subject, options));
    if (options.bottleneck_range) {
      subjects.push_back(std::move(subject));
    }
    return row;
  } catch (const Error& error) {
    return row_of_error(schedule, error.what());
  }
}

void require_an_answer(const Comparison& comparison) {
  const std::vector<ComparisonRow>& rows = comparison.rows;
  if (std::any_of(rows.begin(), rows.end(), [](const auto& row) { return row.ran(); })) {
    return;
  }
  std::string text = "no schedule can run:";
  for (const ComparisonRow& row : rows) {
    text += fmt::format("\n  {}: {}", row.schedule, row.error);
  }
  throw Error(text);
}

BottleneckRange range_of(const std::vector<Subject>& subjects,
                         const std::string& baseline,
                         const CompareOptions& options) {
  BottleneckRange range = bottleneck_range(subjects, options.plan, options.resolution);
  if (std::ranges::find(range.schedules, baseline) != range.schedules.end()) {
    add_speedups(range, baseline);
  }
  return range;
}

}  // namespace

int run_compare(const CompareOptions& options) {
  const Inputs inputs = load_scenario_inputs(options.input);
  const Lineup lineup = choose_lineup(inputs.scenario, options.schedules, options.baseline);
  std::vector<ComparisonRow> rows;
  std::vector<Subject> subjects;
  {
    Progress progress("schedules", static_cast<int>(lineup.schedules.size()));
    for (const std::string& schedule : lineup.schedules) {
      rows.push_back(row_of(inputs, schedule, options, subjects));
      progress.add_one();
    }
  }
  Comparison comparison = make_comparison(std::move(rows), lineup.baseline);
  require_an_answer(comparison);
  if (options.bottleneck_range) {
    comparison.bottleneck_range = range_of(subjects, lineup.baseline, options);
  }
  print_out(options.json ? to_json(comparison) : to_table(comparison));
  return kExitOk;
}

}  // namespace moesim
