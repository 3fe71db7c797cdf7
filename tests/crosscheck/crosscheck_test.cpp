// Predictions beside executions on the CPU backend with the free clock: links are paced max-min by
// construction and operations last what a model says, so this is a test of wiring: of streams,
// queues, events, rendezvous and sharing in both executors. The links' costs are calibrated by
// probes first. Bars are the 5 % (3 % for two collectives at once), plus the lateness that
// the runs recorded.
#include "calibration/crosscheck.h"

#include <cmath>

#include <gtest/gtest.h>

#include "calibration/probes.h"
#include "sim/cli/backend.h"
#include "sim/cli/calibration.h"
#include "sim/cli/inputs.h"
#include "sim/cli/subject.h"
#include "sim/engine/simulate.h"

namespace moesim {
namespace {

constexpr double kBar = 0.05;
constexpr double kSharingBar = 0.03;
constexpr int kNumRuns = 10;

BackendOptions backend_options() {
  BackendOptions options;
  options.modelled = true;
  options.num_runs = kNumRuns;
  return options;
}

// The crosscheck scenario with the links' costs calibrated for these schedules.
struct Calibrated {
  explicit Calibrated(const std::vector<std::string>& schedules)
      : inputs(load_scenario_inputs("scenarios/crosscheck.txtpb")),
        backend(backend_options(), &inputs.cluster, &inputs.profile) {
    inputs.profile = calibrated_profile(inputs, schedules, backend);
  }

  ScheduleComparison compare(const std::string& schedule) const {
    PlanOptions plan;
    plan.degree = DegreeOption{"2", 2, 2};
    const Subject subject = plan_subject(inputs, schedule, plan);
    const Trace predicted = simulate(subject, {});
    const RepeatedRuns runs = backend.run(subject.program()).runs;
    ScheduleComparison row;
    row.schedule = schedule;
    row.predicted_seconds = predicted.end.seconds();
    row.measured = measured_runs(runs);
    return row;
  }

  Inputs inputs;
  Backend backend;
};

// The bar and what the machine added for certain.
double bar(const ScheduleComparison& row) {
  return kBar + row.measured.lateness_seconds / row.measured.median_seconds;
}

TEST(PacedCrosscheckTest, SchedulesTakeWhatIsPredicted) {
  const std::vector<std::string> schedules = {
      "deepspeed_moe", "tutel", "fsmoe", "parm_s1", "sp_moe"};
  const Calibrated calibrated(schedules);
  Crosscheck crosscheck;
  crosscheck.backend = "cpu";
  crosscheck.baseline = "tutel";
  for (const std::string& schedule : schedules) {
    crosscheck.rows.push_back(calibrated.compare(schedule));
  }
  const std::string table = to_table(crosscheck);
  const double baseline_bar = bar(crosscheck.rows[1]);
  for (const ScheduleComparison& row : crosscheck.rows) {
    EXPECT_LE(std::abs(row.error()), bar(row)) << row.schedule << "\n" << table;
    EXPECT_LE(std::abs(speedup_error(crosscheck, row)), std::max(bar(row), baseline_bar))
        << row.schedule << "\n"
        << table;
  }
  const Ranking order = ranking(crosscheck);
  EXPECT_GT(order.num_pairs, 0) << table;
  EXPECT_EQ(order.num_agreeing, order.num_pairs) << table;
}

// Two AlltoAlls between nodes that begin together share the ports: the simulator's answer against
// the link manager's, which were written apart.
TEST(PacedCrosscheckTest, TwoCollectivesShareALink) {
  const Calibrated calibrated({"tutel"});
  const Probe probe = paired_probe(calibrated.inputs.cluster, Span::kFabric, 128 * 1024);
  const Trace predicted =
      simulate(probe.program, &calibrated.inputs.cluster, &calibrated.inputs.profile);
  const RepeatedRuns runs = calibrated.backend.run(probe.program).runs;
  const double measured = runs.iteration().median.seconds();
  const double error = predicted.end.seconds() / measured - 1;
  EXPECT_LE(std::abs(error), kSharingBar + runs.lateness().seconds() / measured)
      << "predicted " << predicted.end.seconds() << " s, measured " << measured << " s";
}

}  // namespace
}  // namespace moesim
