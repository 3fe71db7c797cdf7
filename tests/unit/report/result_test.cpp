#include "sim/report/result.h"

#include <gmock/gmock.h>

#include "sim/model/sizes.h"
#include "tests/support/hand_program.h"
#include "tests/support/recurrence.h"

namespace moesim {
namespace {

using test::HandProgram;
using test::ps;
using test::run_recurrence;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

Trace folded_trace(const HandProgram& hand) {
  return test::folded(run_recurrence(hand.program(), hand.durations()));
}

// One task of 4 us on each of 4 ranks.
class ResultTest : public ::testing::Test {
 protected:
  ResultTest() {
    hand_.add_fixed("work", 0, ps(4'000'000));
    trace_ = folded_trace(hand_);
    trace_.assumptions = {"the sun rises"};
    scenario_.name = "some scenario";
    scenario_.seed = 7;
    scenario_.model.batch = 2;
    scenario_.model.sequence = 1000;
    scenario_.parallel.mp = 2;
    scenario_.parallel.dp = 2;
    cluster_.gpu_memory_bytes = 100;
  }

  ResultInputs inputs() const {
    ResultInputs inputs;
    inputs.program = &hand_.program();
    inputs.trace = &trace_;
    inputs.schedule = "fsmoe";
    inputs.inputs_hash = "abc";
    return inputs;
  }

  HandProgram hand_{4, {"compute"}};
  Trace trace_;
  Scenario scenario_;
  Cluster cluster_;
};

TEST_F(ResultTest, AProgramAlone) {
  const SimulationResult result =
      make_result(inputs(), LowerBounds{ps(3), "stream compute", ps(2)});
  EXPECT_EQ(result.scenario, "by hand");
  EXPECT_EQ(result.inputs_hash, "abc");
  EXPECT_EQ(result.resolution, "fold");
  EXPECT_EQ(result.num_classes, 1);
  EXPECT_EQ(result.num_ranks, 4);
  EXPECT_EQ(result.policy, "");
  EXPECT_DOUBLE_EQ(result.iteration_seconds, 4e-6);
  EXPECT_DOUBLE_EQ(result.tokens_per_second, 0);
  EXPECT_TRUE(result.fits);
  EXPECT_THAT(result.stream_busy_seconds, ElementsAre(Pair("compute", 4e-6)));
  EXPECT_THAT(result.critical_path_seconds, ElementsAre(Pair("work", 4e-6)));
  EXPECT_DOUBLE_EQ(result.busiest_seconds, 3e-12);
  EXPECT_DOUBLE_EQ(result.dependency_chain_seconds, 2e-12);
  EXPECT_EQ(result.bottleneck, "stream compute");
  EXPECT_DOUBLE_EQ(result.bottleneck_share, 1);
  EXPECT_THAT(result.assumptions, ElementsAre("the sun rises"));
}

// Two mp groups of 2 * 1000 tokens in 4 us.
TEST_F(ResultTest, TokensOfAllGroupsCount) {
  ResultInputs with_scenario = inputs();
  with_scenario.scenario = &scenario_;
  const SimulationResult result = make_summary(with_scenario);
  EXPECT_EQ(result.scenario, "some scenario");
  EXPECT_EQ(result.seed, 7U);
  EXPECT_DOUBLE_EQ(result.tokens_per_second, 4000 / 4e-6);
  EXPECT_DOUBLE_EQ(result.model_flops_utilization, 0);
}

// Four GPUs for 4 us at 1e15 FLOP/s could do 16e9 FLOP.
TEST_F(ResultTest, UtilisationIsOfTheGemmRate) {
  scenario_.model.layers = 1;
  scenario_.model.embedding = 8;
  scenario_.model.hidden = 16;
  scenario_.model.heads = 2;
  scenario_.model.kv_heads = 2;
  scenario_.model.experts = 4;
  scenario_.model.top_k = 1;
  Profile profile;
  profile.gemm = GemmCost{0, 1e-15, {}};
  ResultInputs with_profile = inputs();
  with_profile.scenario = &scenario_;
  with_profile.profile = &profile;
  const double flops = model_flops(scenario_.model, scenario_.parallel, 1);
  EXPECT_GT(flops, 0);
  EXPECT_DOUBLE_EQ(make_summary(with_profile).model_flops_utilization, flops / 16e9);
}

TEST_F(ResultTest, ScaledTokenCountsAreAnAssumption) {
  scenario_.routing.kind = RoutingKind::kGiven;
  scenario_.routing.tokens = {{6, 2}};
  Program program = hand_.program();
  ResultInputs given = inputs();
  given.program = &program;
  given.scenario = &scenario_;
  program.routings = {{"routing0", {{6, 2}}}};
  const auto scaled = testing::Contains(HasSubstr("the given token counts are scaled"));
  EXPECT_THAT(make_summary(given).assumptions, testing::Not(scaled));
  program.routings = {{"routing0", {{3, 1}}}};
  EXPECT_THAT(make_summary(given).assumptions, scaled);
}

TEST_F(ResultTest, MemoryFitsOrNot) {
  const int y = hand_.add_tensor("y", 26);
  hand_.task(0).writes = {test::rows(y, 0, 26)};
  ResultInputs with_cluster = inputs();
  with_cluster.cluster = &cluster_;
  const SimulationResult result = make_summary(with_cluster);
  EXPECT_EQ(result.memory.peak_bytes, 104);
  EXPECT_EQ(result.memory.activation_bytes, 104);
  EXPECT_EQ(result.gpu_memory_bytes, 100);
  EXPECT_FALSE(result.fits);
  EXPECT_THAT(to_table(result),
              HasSubstr("104 B per GPU at its fullest (weights 0 B, gradients 0 B, optimizer 0 B, "
                        "activations 104 B), does NOT fit in 100 B"));
  cluster_.gpu_memory_bytes = 104;
  EXPECT_TRUE(make_summary(with_cluster).fits);
}

// A sweep keeps no spans: the summary must not need them.
TEST_F(ResultTest, ASummaryNeedsNoSpans) {
  trace_.spans.clear();
  EXPECT_DOUBLE_EQ(make_summary(inputs()).iteration_seconds, 4e-6);
}

TEST_F(ResultTest, PlansTellDegreesPolicyAndRunnerUp) {
  Plan plan;
  plan.policy = "search";
  plan.variant = "parm_s1";
  plan.degrees = Degrees{.forward = {2, 4}, .backward = {3, 3}};
  plan.runner_up = Candidate{.degrees = {.forward = {2, 2}, .backward = {3, 3}},
                             .variant = "parm_s2",
                             .time = ps(5'000'000)};
  ResultInputs with_plan = inputs();
  with_plan.plan = &plan;
  const SimulationResult result = make_summary(with_plan);
  EXPECT_EQ(result.policy, "search");
  EXPECT_EQ(result.variant, "parm_s1");
  EXPECT_EQ(result.forward_degree, 4);
  EXPECT_EQ(result.backward_degree, 3);
  EXPECT_FALSE(result.non_moe_degree.has_value());
  EXPECT_THAT(result.degrees, ElementsAre(ElementsAre(2, 3), ElementsAre(4, 3)));
  EXPECT_EQ(result.runner_up, "parm_s2 with forward 2, backward 3: 5.000 us (+25.0 %)");
}

// 8 is the last degree that searches try; one that was given was not chosen.
TEST_F(ResultTest, TheLargestDegreeTriedIsAnAssumption) {
  Plan plan;
  plan.policy = "search";
  plan.degrees = Degrees{.forward = {4, 4}, .backward = {8, 8}};
  ResultInputs with_plan = inputs();
  with_plan.plan = &plan;
  with_plan.scenario = &scenario_;
  const SimulationResult result = make_summary(with_plan);
  EXPECT_TRUE(result.largest_degree_tried);
  EXPECT_THAT(result.assumptions, Contains(HasSubstr("no degree above 8 was tried")));
  EXPECT_THAT(to_table(result), HasSubstr("backward 8 (search); 8 is the largest tried"));
  scenario_.degrees.backward = 8;
  EXPECT_FALSE(make_summary(with_plan).largest_degree_tried);
  scenario_.degrees.backward.reset();
  plan.degrees.backward = {7, 7};
  EXPECT_FALSE(make_summary(with_plan).largest_degree_tried);
}

TEST_F(ResultTest, EqualLayersNeedNoList) {
  Plan plan;
  plan.degrees = Degrees{.forward = {4, 4}, .backward = {2, 2}, .non_moe = 2};
  ResultInputs with_plan = inputs();
  with_plan.plan = &plan;
  with_plan.schedule = "sp_moe";
  const SimulationResult result = make_summary(with_plan);
  EXPECT_TRUE(result.degrees.empty());
  EXPECT_EQ(result.non_moe_degree, 2);
}

TEST_F(ResultTest, AnIterationOfNothing) {
  HandProgram nothing(1, {"compute"});
  nothing.add_fixed("work", 0, ps(0));
  const Trace trace = folded_trace(nothing);
  ResultInputs empty;
  empty.program = &nothing.program();
  empty.trace = &trace;
  const SimulationResult result = make_result(empty, LowerBounds{});
  EXPECT_EQ(result.bound_by, "nothing: no task takes time");
  EXPECT_FALSE(to_table(result).empty());
}

}  // namespace
}  // namespace moesim
