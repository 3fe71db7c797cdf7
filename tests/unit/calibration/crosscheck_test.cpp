#include "calibration/crosscheck.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace moesim {
namespace {

using testing::HasSubstr;

ScheduleComparison row(const std::string& schedule, double predicted, double measured) {
  ScheduleComparison result;
  result.schedule = schedule;
  result.predicted_seconds = predicted;
  result.measured.median_seconds = measured;
  return result;
}

Time ms(int count) {
  return Time::from_picoseconds(count * 1'000'000'000LL);
}

// Predicted 2.0 and 1.1 against measured 2.2 and 1.0: errors of -9.09 % and +10 %, whose lower
// median is 9.09 %. Speed-ups 1.818 and 2.2: -17.4 %.
TEST(CrosscheckTest, ErrorsAreRelativeToWhatWasMeasured) {
  const Crosscheck crosscheck{
      "cpu", "tutel", {row("tutel", 2.0, 2.2), row("fsmoe", 1.1, 1.0)}, {}, {}};
  EXPECT_NEAR(crosscheck.rows[0].error(), -1.0 / 11, 1e-12);
  EXPECT_NEAR(median_error(crosscheck), 1.0 / 11, 1e-12);
  EXPECT_NEAR(worst_error(crosscheck), 0.1, 1e-12);
  EXPECT_NEAR(speedup_error(crosscheck, crosscheck.rows[1]), (2.0 / 1.1) / 2.2 - 1, 1e-12);
  EXPECT_EQ(speedup_error(crosscheck, crosscheck.rows[0]), 0);
}

// a-b differ by 1 % as measured: no pair. a-c and b-c do; the prediction puts c before a (as
// measured) but not before b.
TEST(CrosscheckTest, OnlyPairsThatDifferAreRanked) {
  const Crosscheck crosscheck{
      "cpu", "a", {row("a", 3.0, 2.02), row("b", 1.0, 2.0), row("c", 1.5, 1.0)}, {}, {}};
  const Ranking order = ranking(crosscheck);
  EXPECT_EQ(order.num_pairs, 2);
  EXPECT_EQ(order.num_agreeing, 1);
}

// Two ranks. Predicted: one class of both, a task of 4 ms. Measured: 5 ms and 7 ms, where 2 ms of
// the second were waiting for the other member: a mean of 5 ms, in both runs.
TEST(CrosscheckTest, KindsAreMeansOverRanksWithoutWaiting) {
  Program program;
  program.num_ranks = 2;
  Task task;
  task.kind = "dispatch";
  program.tasks = {task};
  Trace predicted;
  predicted.classes = {{0, {0, 1}}};
  predicted.spans = {{0, 0, ms(0), ms(0), ms(0), ms(4)}};
  Trace measured;
  measured.classes = {{0, {0}}, {1, {1}}};
  measured.spans = {{0, 0, ms(0), ms(0), ms(0), ms(5)}, {1, 0, ms(0), ms(0), ms(2), ms(7)}};
  const auto kinds = compare_kinds(program, predicted, {measured, measured});
  ASSERT_EQ(kinds.size(), 1U);
  EXPECT_EQ(kinds[0].kind, "dispatch");
  EXPECT_NEAR(kinds[0].predicted_seconds, 4e-3, 1e-12);
  EXPECT_NEAR(kinds[0].measured_seconds, 5e-3, 1e-12);
}

// What has no times counts nowhere: errors and ranking are those of the two others.
TEST(CrosscheckTest, WhatWasNotMeasuredHasARowAndAReason) {
  Crosscheck crosscheck{"cpu", "tutel", {row("tutel", 2.0, 2.2), row("fsmoe", 1.1, 1.0)}, {}, {}};
  const double worst = worst_error(crosscheck);
  crosscheck.not_measured = {{"sp_moe", 2, 4, 1.5, "too many disturbed"}};
  EXPECT_EQ(worst_error(crosscheck), worst);
  EXPECT_EQ(ranking(crosscheck).num_pairs, 1);
  EXPECT_THAT(
      schedule_cells(crosscheck).back(),
      testing::ElementsAre("sp_moe", "2 / 4", "1500.000 ms", "not measured", "-", "-", "-", "-"));
  EXPECT_THAT(to_table(crosscheck),
              testing::AllOf(HasSubstr("speed-ups are over tutel"),
                             HasSubstr("- sp_moe: too many disturbed")));
  EXPECT_THAT(to_json(crosscheck), HasSubstr("\"reason\": \"too many disturbed\""));
}

// The median of 1 s is known to 0.4 %. A column of delays stands where every row has one.
TEST(CrosscheckTest, TheTableSaysHowWellTimesAreKnown) {
  Crosscheck crosscheck{"cpu", "tutel", {row("tutel", 1.1, 1.0)}, {}, {}};
  crosscheck.rows[0].measured.p25_seconds = 0.9;
  crosscheck.rows[0].measured.spread = 0.004;
  EXPECT_EQ(schedule_cells(crosscheck)[1][3], "1000.000 ms ±0.4 % (900.000 ms)");
  EXPECT_EQ(schedule_cells(crosscheck)[0].back(), "lateness");
  crosscheck.rows[0].measured.delay_seconds = 0.003;
  EXPECT_EQ(schedule_cells(crosscheck)[0].back(), "delay");
  EXPECT_EQ(schedule_cells(crosscheck)[1].back(), "3.000 ms");
}

TEST(CrosscheckTest, TheTableNamesSchedulesErrorsAndRanking) {
  Crosscheck crosscheck{
      "cpu", "tutel", {row("tutel", 2.0, 2.2), row("fsmoe", 1.1, 1.0)}, {"sp_moe: no"}, {"x"}};
  crosscheck.rows[0].kinds = {{"expert", 0.5, 0.4}};
  const std::string table = to_table(crosscheck);
  EXPECT_THAT(table, HasSubstr("-9.1 %"));
  EXPECT_THAT(table, HasSubstr("median 9.1 %, largest 10.0 %"));
  EXPECT_THAT(table, HasSubstr("of 1 pair whose measured times differ by more than 2 %, all are"));
  EXPECT_THAT(table, HasSubstr("+25.0 %"));
  EXPECT_THAT(table, HasSubstr("sp_moe: no"));
  EXPECT_THAT(to_json(crosscheck), HasSubstr("\"agreeing_pairs\": 1"));
}

}  // namespace
}  // namespace moesim
