// Scenarios: what follows from what, overrides, routing. The cluster has 2 nodes of 4 GPUs.
#include <gmock/gmock.h>

#include "tests/unit/io/scenario_fixture.h"

namespace moesim {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::IsEmpty;
using testing::StartsWith;

// 2 nodes of 4 GPUs: dp = 8 / 4 and ep = 8 / (4 * 1).
TEST_F(ScenarioTest, DerivesGroupSizesAndDefaults) {
  const Scenario scenario = load();
  EXPECT_EQ(scenario.name, "small");
  EXPECT_EQ(scenario.path, path_);
  EXPECT_EQ(scenario.cluster_path, folder_ + "/parts/c.txtpb");
  EXPECT_EQ(scenario.parallel.dp, 2);
  EXPECT_EQ(scenario.parallel.ep, 2);
  EXPECT_EQ(scenario.model.capacity_factor, 1.25);
  EXPECT_EQ(scenario.model.attention, AttentionMask::kFull);
  EXPECT_FALSE(scenario.model.optimizer);
  EXPECT_EQ(scenario.routing.kind, RoutingKind::kBalanced);
  EXPECT_EQ(scenario.gradient_chunk_bytes, 30'000'000);
  EXPECT_EQ(scenario.seed, 1U);
  EXPECT_FALSE(scenario.degrees.forward);
  EXPECT_EQ(load({"model.heads=8"}).model.kv_heads, 8);
}

TEST_F(ScenarioTest, OverridesReachEveryFile) {
  const Inputs inputs = load_inputs(path_,
                                    {.overrides = {"model.sequence=2048",
                                                   "model.capacity_factor=*",
                                                   "model.optimizer=ADAM",
                                                   "model.recompute=FULL",
                                                   "model.gate=EXPERT_CHOICE",
                                                   "model.pad_capacity=true",
                                                   "routing.zipf_exponent=1.2",
                                                   "degrees.forward=4",
                                                   "degrees.backward_per_layer=1,2,3",
                                                   "schedules=fsmoe,lina",
                                                   "baseline=lina",
                                                   "gradient_chunk=1 MB",
                                                   "seed=18446744073709551615",
                                                   "cluster.num_nodes=4",
                                                   "profile.hardware_queues=1"}});
  const Scenario& scenario = inputs.scenario;
  EXPECT_EQ(scenario.model.sequence, 2048);
  EXPECT_FALSE(scenario.model.capacity_factor);
  EXPECT_EQ(scenario.model.optimizer, OptimizerAlgorithm::kAdam);
  EXPECT_EQ(scenario.model.recompute, Recompute::kFull);
  EXPECT_EQ(scenario.model.gate, GateKind::kExpertChoice);
  EXPECT_TRUE(scenario.model.pad_capacity);
  EXPECT_EQ(scenario.routing.kind, RoutingKind::kZipf);
  EXPECT_EQ(scenario.routing.zipf_exponent, 1.2);
  EXPECT_EQ(scenario.degrees.forward, 4);
  EXPECT_THAT(scenario.degrees.backward_per_layer, ElementsAre(1, 2, 3));
  EXPECT_THAT(scenario.schedules, ElementsAre("fsmoe", "lina"));
  EXPECT_EQ(scenario.gradient_chunk_bytes, 1'000'000);
  EXPECT_EQ(scenario.seed, 18446744073709551615U);
  EXPECT_EQ(scenario.parallel.dp, 4);  // 16 GPUs
  EXPECT_EQ(inputs.profile.hardware_queues, 1);
}

TEST_F(ScenarioTest, TheLastOverrideOfAFieldCounts) {
  EXPECT_EQ(load({"model.sequence=1024", "model.sequence=2048"}).model.sequence, 2048);
}

TEST_F(ScenarioTest, AnEmptyOverrideRemovesTheField) {
  EXPECT_EQ(load({"baseline=", "schedules="}).baseline, "");
  EXPECT_THAT(load({"baseline=", "schedules="}).schedules, IsEmpty());
  EXPECT_EQ(error("model.capacity_factor="), "Model has no \"capacity_factor\"; add it");
}

TEST_F(ScenarioTest, OverridesAreLocatedAtThemselves) {
  EXPECT_EQ(error_of([this] { return load({"model.sequence=abc"}); }),
            "--set model.sequence=abc: abc is not a whole number; write one such as 4");
  EXPECT_EQ(error("model.sequnce=1"), "no field \"sequnce\" in Model; did you mean \"sequence\"?");
  EXPECT_EQ(error("model=1"),
            "\"model\" is a group of fields; write model { } with its fields, such as name");
  EXPECT_EQ(error("variation.speeds={at: 'node:0'}"),
            "\"speeds\" is a list of groups of fields; set the fields of one, each by itself: "
            "speeds.at=…");
  EXPECT_EQ(error("model.sequence.length=1"), "sequence has no fields; set it as a whole");
  EXPECT_EQ(error("model.sequence"),
            "the value is missing; write FIELD=VALUE, such as model.sequence=2048");
  EXPECT_EQ(error("=1"),
            "no path of a field stands before the =; write one such as model.sequence=2048");
  EXPECT_EQ(error("model..sequence=1"),
            "no path of a field stands before the =; write one such as model.sequence=2048");
  EXPECT_EQ(error("schedules[0]=lina"), "schedules is set as a whole: write schedules=a,b,c");
  EXPECT_EQ(error("degrees.forward_per_layer=1,,1"),
            "\"\" is not a whole number; write one such as 4");
  EXPECT_EQ(error("profile.collectives[1].startup=1 us"),
            "there is no collectives[1]; use a smaller index");
}

// 500 characters of a field's name or value say no more than 60.
TEST_F(ScenarioTest, LongTokensAreAbbreviated) {
  const std::string sixty(60, 'z');
  EXPECT_EQ(error("model.capacity_factor=" + std::string(500, 'z')).find(sixty + "z"),
            std::string::npos);
  write_file_atomically(path_, std::string(500, 'z') + ": 1");
  EXPECT_THAT(error_of([this] { return load(); }),
              StartsWith(path_ + ":1:1: no field \"" + sixty + "…\" in Scenario; "));
}

TEST_F(ScenarioTest, RefusesContradictions) {
  EXPECT_EQ(error_of([this] {
              return load({"degrees.forward=2", "degrees.forward_per_layer=1,2,3"});
            }),
            "--set degrees.forward_per_layer=1,2,3: both forward and forward_per_layer; keep one "
            "of them");
  EXPECT_EQ(error("degrees.backward_per_layer=1,2"), "2 degrees for 3 layers; write one for each");
  EXPECT_EQ(error("schedules=tutel,fsmoe,tutel"), "\"tutel\" twice; remove one");
  write_file_atomically(
      path_,
      std::string(kScenario) + "routing { zipf_exponent: 1\ntokens { counts: [1, 2, 3, 4] } }");
  EXPECT_THAT(error_of([this] { return load(); }),
              EndsWith(":9:1: both zipf_exponent and tokens; keep one of them"));
  write_file_atomically(path_,
                        std::string(kScenario) + "routing { tokens { counts: [1, 2, 3, 4] } }");
  EXPECT_THAT(error_of([this] { return load(); }),
              EndsWith(":8:11: 1 rows of 4 counts for 8 ranks and 4 experts; write a row for each "
                       "rank, a count for each expert"));
}

TEST_F(ScenarioTest, ReadsGivenTokens) {
  std::string rows;
  for (int rank = 0; rank < 8; ++rank) {
    rows += "tokens { counts: [" + std::to_string(rank) + ", 0, 0, 1] }\n";
  }
  write_file_atomically(path_, std::string(kScenario) + "routing {\n" + rows + "}");
  const Scenario scenario = load();
  EXPECT_EQ(scenario.routing.kind, RoutingKind::kGiven);
  EXPECT_THAT(scenario.routing.tokens[5], ElementsAre(5, 0, 0, 1));
}

TEST_F(ScenarioTest, GivenTokensMustSaySomething) {
  std::string rows;
  for (int rank = 0; rank < 8; ++rank) {
    rows += rank == 3 ? "tokens { counts: [0, 0, 0, 0] }\n" : "tokens { counts: [1, 0, 0, 1] }\n";
  }
  write_file_atomically(path_, std::string(kScenario) + "routing {\n" + rows + "}");
  EXPECT_THAT(error_of([this] { return load(); }),
              EndsWith(":12:1: the counts of rank 3 are all 0; say how its choices spread over the "
                       "experts"));
}

TEST_F(ScenarioTest, SchedulesMustBeKnown) {
  const std::vector<std::string> known = {"fsmoe", "lina", "tutel"};
  EXPECT_EQ(error_of([&] { load_inputs(path_, {.known_schedules = known}); }), "");
  EXPECT_EQ(error_of([&] {
              load_inputs(path_, {.overrides = {"schedules=lina,fsmo"}, .known_schedules = known});
            }),
            "--set schedules=lina,fsmo: no schedule \"fsmo\"; did you mean \"fsmoe\"?");
  EXPECT_EQ(error_of([&] {
              load_inputs(path_, {.overrides = {"baseline=x"}, .known_schedules = known});
            }),
            "--set baseline=x: no schedule \"x\"; use one of fsmoe, lina, tutel");
}

}  // namespace
}  // namespace moesim
