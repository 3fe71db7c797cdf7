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

Comparison three() {
  return make_comparison({result_of("slow", 0.3), result_of("base", 0.2), result_of("fast", 0.1)},
                         "base");
}

TEST(ComparisonTest, SpeedUpsAreOverTheBaseline) {
  const Comparison comparison = three();
  ASSERT_EQ(comparison.rows.size(), 3U);
  EXPECT_DOUBLE_EQ(comparison.rows[0].speedup, 0.2 / 0.3);
  EXPECT_DOUBLE_EQ(comparison.rows[1].speedup, 1);
  EXPECT_DOUBLE_EQ(comparison.rows[2].speedup, 2);
  EXPECT_EQ(comparison.rows[2].schedule, "fast");
  EXPECT_EQ(comparison.rows[2].forward_degree, 4);
}

TEST(ComparisonTest, AssumptionsAreListedOnce) {
  EXPECT_THAT(all_assumptions(three()), ElementsAre("common", "of slow", "of base", "of fast"));
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
  const Comparison comparison = make_comparison(
      {result_of("slow", 0.4), result_of("base", 0.1), result_of("next", 0.2)}, "base");
  EXPECT_THAT(to_table(comparison), HasSubstr("base is the fastest, 2.00x as fast as next"));
}

// What needs more memory than there is cannot win.
TEST(ComparisonTest, OnlyWhatFitsWins) {
  SimulationResult large = result_of("large", 0.05);
  large.fits = false;
  const std::string table = to_table(make_comparison({large, result_of("base", 0.2)}, "base"));
  EXPECT_THAT(table, HasSubstr("base is the fastest\n"));
  EXPECT_THAT(table, HasSubstr("does not fit"));
  EXPECT_THAT(to_table(make_comparison({large}, "large")), HasSubstr("no schedule fits"));
}

TEST(ComparisonTest, DegreesOfLayersAreARange) {
  SimulationResult result = result_of("base", 0.2);
  result.degrees = {{4, 2}, {1, 2}};
  result.non_moe_degree = 3;
  const std::string table = to_table(make_comparison({result}, "base"));
  EXPECT_THAT(table, HasSubstr("1-4 / 2 (3)"));
  EXPECT_THAT(table, HasSubstr("forward / backward (non-MoE)"));
  EXPECT_THAT(to_table(three()), Not(HasSubstr("non-MoE")));
}

TEST(ComparisonTest, NothingToCompare) {
  EXPECT_EQ(to_table(Comparison()), "nothing to compare\n");
}

TEST(ComparisonDeathTest, TheBaselineMustBeThere) {
  EXPECT_DEATH(make_comparison({result_of("a", 1)}, "b"), "baseline");
}

}  // namespace
}  // namespace moesim
