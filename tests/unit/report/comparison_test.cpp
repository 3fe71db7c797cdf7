#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "sim/report/result.h"

namespace moesim {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

SimulationResult result_of(const std::string& schedule, double seconds) {
  SimulationResult result;
  result.scenario = "some scenario";
  result.schedule = schedule;
  result.iteration_seconds = seconds;
  result.forward_degree = 4;
  result.backward_degree = 2;
  result.exposed_communication_seconds = seconds / 4;
  result.critical_path_seconds = {{"expert", seconds / 2}, {"dispatch", seconds / 2}};
  result.bottleneck = "inter-node AlltoAll";
  result.bottleneck_share = 0.5;
  result.assumptions = {"common", "of " + schedule};
  return result;
}

Comparison compare(const std::vector<SimulationResult>& results, const std::string& baseline) {
  std::vector<ComparisonRow> rows;
  for (const SimulationResult& result : results) {
    rows.push_back(row_of(result));
  }
  return make_comparison(std::move(rows), baseline);
}

Comparison three() {
  return compare({result_of("slow", 0.3), result_of("base", 0.2), result_of("fast", 0.1)}, "base");
}

TEST(ComparisonTest, SpeedUpsAreOverTheBaseline) {
  const Comparison comparison = three();
  ASSERT_EQ(comparison.rows.size(), 3U);
  EXPECT_DOUBLE_EQ(comparison.rows[0].speedup.value(), 0.2 / 0.3);
  EXPECT_DOUBLE_EQ(comparison.rows[1].speedup.value(), 1);
  EXPECT_DOUBLE_EQ(comparison.rows[2].speedup.value(), 2);
  EXPECT_EQ(comparison.rows[2].schedule, "fast");
}

// "common" holds for all three; the others say whose they are.
TEST(ComparisonTest, AssumptionsAreListedOnceAndSayWhose) {
  std::vector<std::string> lines;
  for (const SharedAssumption& assumption : all_assumptions(three())) {
    lines.push_back(assumption.line());
  }
  EXPECT_THAT(lines, ElementsAre("common", "slow: of slow", "base: of base", "fast: of fast"));
  EXPECT_THAT(to_table(three()), HasSubstr("\n  - common\n  - slow: of slow\n"));
  EXPECT_EQ(json::parse(to_json(three()))["assumptions"][1], "slow: of slow");
}

// What two of three rest on names both; a schedule that cannot run rests on nothing.
TEST(ComparisonTest, AssumptionsOfSomeNameThem) {
  SimulationResult other = result_of("other", 0.1);
  other.assumptions = {"common"};
  std::vector<ComparisonRow> rows = {row_of(result_of("base", 0.2)), row_of(other)};
  rows.push_back(row_of(result_of("base", 0.2)));
  rows.back().schedule = "third";
  rows.push_back(row_of_error("none", "it cannot"));
  const std::vector<SharedAssumption> all =
      all_assumptions(make_comparison(std::move(rows), "base"));
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].line(), "common");
  EXPECT_EQ(all[1].line(), "base, third: of base");
}

TEST(ComparisonTest, JsonHasTheKeysOfTheContract) {
  const json comparison = json::parse(to_json(three()));
  EXPECT_EQ(comparison["baseline"], "base");
  ASSERT_EQ(comparison["rows"].size(), 3U);
  const json& row = comparison["rows"][2];
  EXPECT_EQ(row["schedule"], "fast");
  EXPECT_EQ(row["iteration_seconds"], 0.1);
  EXPECT_EQ(row["speedup"], 2);
  EXPECT_EQ(row["forward_degree"], 4);
  EXPECT_EQ(row["backward_degree"], 2);
}

// fast over base: 100 ms less, of which exposed communication 25, dispatch and expert 50 each.
TEST(ComparisonTest, TheTableSaysWhy) {
  const std::string table = to_table(three());
  EXPECT_THAT(table, HasSubstr("fast      100.000 ms     2.00x"));
  EXPECT_THAT(table,
              HasSubstr("fast is the fastest, 2.00x as fast as base: exposed communication "
                        "-25.000 ms (25.000 ms instead of 50.000 ms); on the critical path "
                        "dispatch -50.000 ms, expert -50.000 ms"));
}

TEST(ComparisonTest, AWinningBaselineIsHeldAgainstTheNextBest) {
  const Comparison comparison =
      compare({result_of("slow", 0.4), result_of("base", 0.1), result_of("next", 0.2)}, "base");
  EXPECT_THAT(to_table(comparison), HasSubstr("base is the fastest, 2.00x as fast as next"));
}

// What needs more memory than there is cannot win.
TEST(ComparisonTest, OnlyWhatFitsWins) {
  SimulationResult large = result_of("large", 0.05);
  large.fits = false;
  const std::string table = to_table(compare({large, result_of("base", 0.2)}, "base"));
  EXPECT_THAT(table, HasSubstr("base is the fastest that fits\n"));
  EXPECT_THAT(table, HasSubstr("does not fit"));
}

// Where nothing fits, the answer on time is still worth an explanation: 200 ms are 2.00x 400 ms,
// and a quarter of each is exposed communication.
TEST(ComparisonTest, WhereNothingFitsTheFastestIsStillExplained) {
  SimulationResult slow = result_of("slow", 0.4);
  SimulationResult fast = result_of("fast", 0.2);
  slow.fits = fast.fits = false;
  EXPECT_THAT(to_table(compare({slow, fast}, "slow")),
              HasSubstr("no schedule fits into the memory of a GPU; of all, fast is the fastest, "
                        "2.00x as fast as slow: exposed communication -50.000 ms"));
}

// 60 of 100 ms: more than half.
TEST(ComparisonTest, ExpertComputeIsNamedWhereItDominates) {
  SimulationResult fast = result_of("fast", 0.1);
  fast.critical_path_seconds = {{"expert", 0.06}, {"dispatch", 0.04}};
  EXPECT_THAT(to_table(compare({fast, result_of("base", 0.2)}, "base")),
              HasSubstr("; expert compute is 60 % of its critical path\n"));
  EXPECT_THAT(to_table(three()), Not(HasSubstr("expert compute")));
}

// A critical path of which ranks that compute all the time have many says nothing.
TEST(ComparisonTest, SaturatedComputeIsNoMatterOfOnePath) {
  SimulationResult fast = result_of("fast", 0.1);
  fast.bottleneck = "compute";
  fast.bottleneck_share = 0.91;
  fast.bottleneck_path_share = 0.5;
  EXPECT_THAT(to_table(compare({fast, result_of("base", 0.2)}, "base")),
              HasSubstr("(25.000 ms instead of 50.000 ms); its ranks compute 91 % of the "
                        "iteration\n"));
}

TEST(ComparisonTest, StragglersAreSaid) {
  SimulationResult fast = result_of("fast", 0.1);
  fast.bottleneck = "stragglers";
  fast.bottleneck_share = 0.6;
  fast.straggler_wait_seconds = 0.06;
  SimulationResult base = result_of("base", 0.2);
  base.straggler_wait_seconds = 0.05;
  EXPECT_THAT(to_table(compare({fast, base}, "base")),
              HasSubstr("base: on the critical path dispatch -50.000 ms, expert -50.000 ms; mean "
                        "waiting for stragglers +10.000 ms (60.000 ms instead of 50.000 ms), "
                        "exposed communication -25.000 ms (25.000 ms instead of 50.000 ms); its "
                        "ranks wait for stragglers 60 % of the iteration\n"));
}

TEST(ComparisonTest, TheLargestDegreeTriedIsMarked) {
  SimulationResult fast = result_of("fast", 0.1);
  fast.largest_degree_tried = true;
  const std::string table = to_table(compare({fast, result_of("base", 0.2)}, "base"));
  EXPECT_THAT(table, HasSubstr("4 / 2 *"));
  EXPECT_THAT(table, HasSubstr("degrees: forward / backward, * the largest tried; "));
  EXPECT_THAT(to_table(three()), Not(HasSubstr("*")));
}

TEST(ComparisonTest, WhatCannotRunIsARow) {
  const Comparison comparison = make_comparison({row_of_error("odd", "a.txtpb: it needs mp = esp"),
                                                 row_of(result_of("base", 0.2)),
                                                 row_of(result_of("fast", 0.1))},
                                                "base");
  const std::string table = to_table(comparison);
  EXPECT_THAT(table, HasSubstr("some scenario, "));
  EXPECT_THAT(table, HasSubstr("\nodd       cannot run\n"));
  EXPECT_THAT(table, HasSubstr("\ncannot run\n  - odd: a.txtpb: it needs mp = esp\n"));
  EXPECT_THAT(table, HasSubstr("fast is the fastest, 2.00x as fast as base"));
  const json document = json::parse(to_json(comparison));
  EXPECT_EQ(document["scenario"], "some scenario");
  EXPECT_EQ(document["rows"][0],
            json({{"schedule", "odd"}, {"error", "a.txtpb: it needs mp = esp"}}));
  EXPECT_EQ(document["rows"][2]["speedup"], 2);
}

TEST(ComparisonTest, WithoutTheBaselineThereAreNoSpeedUps) {
  const Comparison comparison = make_comparison(
      {row_of_error("base", "no"), row_of(result_of("slow", 0.2)), row_of(result_of("fast", 0.1))},
      "base");
  EXPECT_TRUE(json::parse(to_json(comparison))["rows"][1]["speedup"].is_null());
  const std::string table = to_table(comparison);
  EXPECT_THAT(table, HasSubstr("no speed-ups: the baseline base cannot run"));
  EXPECT_THAT(table, HasSubstr("fast is the fastest, 2.00x as fast as slow"));
}

TEST(ComparisonTest, DegreesOfLayersAreARange) {
  SimulationResult result = result_of("base", 0.2);
  result.degrees = {{4, 2}, {1, 2}};
  result.non_moe_degree = 3;
  const std::string table = to_table(compare({result}, "base"));
  EXPECT_THAT(table, HasSubstr("1-4 / 2 (3)"));
  EXPECT_THAT(table, HasSubstr("forward / backward (non-MoE)"));
  EXPECT_THAT(to_table(three()), Not(HasSubstr("non-MoE")));
}

TEST(ComparisonTest, NothingToCompare) {
  EXPECT_EQ(to_table(Comparison()), "nothing to compare\n");
}

TEST(ComparisonDeathTest, TheBaselineMustBeThere) {
  EXPECT_DEATH(compare({result_of("a", 1)}, "b"), "baseline");
}

}  // namespace
}  // namespace moesim
