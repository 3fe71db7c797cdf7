// Every schedule's Program, over the model's options, is one that the verifier accepts, and its
// collectives move what the papers say.

#include <map>

#include <gtest/gtest.h>

#include "sim/base/error.h"
#include "sim/program/verifier.h"
#include "tests/unit/schedule/small_scenario.h"

namespace moesim {
namespace {

using testing::degrees;
using testing::small_scenario;

void expect_clean(const std::string& schedule, const Scenario& scenario, const Degrees& chosen) {
  const Program program = build_schedule(schedule, scenario, chosen, unit_evaluator());
  const Verdict verdict = verify(program);
  ASSERT_TRUE(verdict.ok()) << schedule << ": " << verdict.problems.size()
                            << " problems, first: " << verdict.problems.front().message;
}

class FlowTest : public ::testing::TestWithParam<std::string> {};

TEST_P(FlowTest, IsCleanAtSeveralDegrees) {
  const Scenario scenario = small_scenario();
  for (const int degree : {1, 2, 3, 8}) {
    expect_clean(GetParam(), scenario, degrees(scenario, degree, degree));
  }
}

TEST_P(FlowTest, IsCleanUnderEveryModelOption) {
  for (const Recompute recompute : {Recompute::kNothing, Recompute::kSelective, Recompute::kFull}) {
    for (const bool drops : {true, false}) {
      Scenario scenario = small_scenario();
      scenario.model.recompute = recompute;
      scenario.model.feed_forward = FeedForward::kSwiglu;
      scenario.model.optimizer = OptimizerAlgorithm::kAdam;
      scenario.routing.kind = RoutingKind::kZipf;
      scenario.routing.zipf_exponent = 1;
      if (!drops) {
        scenario.model.capacity_factor.reset();
      }
      expect_clean(GetParam(), scenario, degrees(scenario, 2, 2));
    }
  }
}

TEST_P(FlowTest, IsCleanWhereGroupsAreOneRank) {
  for (const int mp : {1, 2}) {
    for (const int ep : {1, 2, 4}) {
      Scenario scenario = small_scenario();
      const int esp = mp;
      scenario.parallel = {.mp = mp, .dp = 8 / mp, .esp = esp, .ep = ep, .edp = 8 / (esp * ep)};
      expect_clean(GetParam(), scenario, degrees(scenario, 2, 2));
    }
  }
}

TEST_P(FlowTest, IsCleanWhereDomainsAreDivided) {
  Scenario scenario = small_scenario();
  scenario.parallel = {.mp = 8, .dp = 1, .esp = 8, .ep = 1, .edp = 1};
  scenario.model.heads = 8;
  scenario.model.kv_heads = 8;
  expect_clean(GetParam(), scenario, degrees(scenario, 2, 2));
}

INSTANTIATE_TEST_SUITE_P(AllSchedules,
                         FlowTest,
                         ::testing::ValuesIn(schedule_names()),
                         [](const auto& parameter) { return parameter.param; });

TEST(SpMoeTest, IsCleanForPairsOfDegrees) {
  const Scenario scenario = small_scenario();
  for (const auto& [moe, non_moe] : {std::pair{1, 2}, {2, 2}, {4, 2}, {2, 4}, {3, 3}, {6, 3}}) {
    expect_clean("sp_moe", scenario, degrees(scenario, moe, moe, non_moe));
  }
}

// With one non-MoE chunk it must cost what the others do, or it would win by accounting.
TEST(SpMoeTest, IsPipeMoeWithOneNonMoeChunk) {
  const Scenario scenario = small_scenario();
  const Degrees three = degrees(scenario, 3, 3);
  const Program sp_moe = build_schedule("sp_moe", scenario, three, unit_evaluator());
  const Program pipemoe = build_schedule("pipemoe", scenario, three, unit_evaluator());
  EXPECT_EQ(sp_moe.streams, pipemoe.streams);
  ASSERT_EQ(sp_moe.tasks.size(), pipemoe.tasks.size());
  for (std::size_t i = 0; i < sp_moe.tasks.size(); ++i) {
    EXPECT_EQ(sp_moe.tasks[i].name, pipemoe.tasks[i].name);
    EXPECT_EQ(sp_moe.tasks[i].stream, pipemoe.tasks[i].stream) << sp_moe.tasks[i].name;
    EXPECT_EQ(sp_moe.tasks[i].waits, pipemoe.tasks[i].waits) << sp_moe.tasks[i].name;
  }
}

TEST(SpMoeTest, IsCleanWithRecomputation) {
  for (const Recompute recompute : {Recompute::kSelective, Recompute::kFull}) {
    Scenario scenario = small_scenario();
    scenario.model.recompute = recompute;
    expect_clean("sp_moe", scenario, degrees(scenario, 2, 2, 4));
    expect_clean("sp_moe", scenario, degrees(scenario, 4, 4, 2));
  }
}

TEST(SpMoeTest, RefusesDegreesThatDoNotDivide) {
  const Scenario scenario = small_scenario();
  EXPECT_THROW(build_schedule("sp_moe", scenario, degrees(scenario, 2, 2, 3), unit_evaluator()),
               Error);
}

TEST(FsmoeTest, ForwardAndBackwardDegreesMayDiffer) {
  const Scenario scenario = small_scenario();
  for (const char* schedule : {"fsmoe", "fsmoe_no_iio"}) {
    expect_clean(schedule, scenario, degrees(scenario, 2, 3));
    expect_clean(schedule, scenario, degrees(scenario, 4, 1));
  }
}

// Bytes of a forward pass by kind, summed over chunks and layers.
std::map<std::string, int64_t> forward_bytes(const Program& program) {
  std::map<std::string, int64_t> bytes;
  for (const Task& task : program.tasks) {
    const auto* collective = std::get_if<Collective>(&task.descriptor);
    if (collective != nullptr && task.pass == Pass::kForward) {
      bytes[task.kind] += collective->bytes;
    }
  }
  return bytes;
}

TEST(FsmoeTest, MovesWhatThePaperSays) {
  Scenario scenario = small_scenario();
  scenario.model.layers = 1;
  scenario.model.capacity_factor = 1.0;
  const auto bytes =
      forward_bytes(build_schedule("fsmoe", scenario, degrees(scenario, 3, 3), unit_evaluator()));
  // kf*B*L*M = 2*1*16*8 = 256 elements of 4 bytes (sizes in the authors' code).
  EXPECT_EQ(bytes.at("dispatch"), 256 / 2 * 4);  // / N_ESP
  EXPECT_EQ(bytes.at("combine"), 256 / 2 * 4);
  EXPECT_EQ(bytes.at("esp_all_gather"), 256 * 4);
  EXPECT_EQ(bytes.at("esp_reduce_scatter"), 256 * 4);
  EXPECT_EQ(bytes.at("mp_all_gather"), 16 * 8 * 4);  // B*L*M
  EXPECT_EQ(bytes.at("mp_reduce_scatter"), 16 * 8 * 4);
}

TEST(ParmTest, MovesWhatThePaperSays) {
  Scenario scenario = small_scenario();
  scenario.model.layers = 1;
  scenario.model.capacity_factor = 1.0;
  const auto bytes_of = [&](const char* schedule) {
    return forward_bytes(
        build_schedule(schedule, scenario, degrees(scenario, 1, 1), unit_evaluator()));
  };
  // E*T*M with T = k*f*B*L/E = 8: 4*8*8 = 256 elements; N_MP = N_ESP = 2.
  const auto baseline = bytes_of("parm_baseline");
  EXPECT_EQ(baseline.at("esp_all_gather"), 16 * 8 * 2 * 4);  // B*L*M*N_ESP
  EXPECT_EQ(baseline.at("dispatch"), 256 * 2 * 4);           // E*T*M*N_ESP
  EXPECT_EQ(baseline.at("esp_all_reduce"), 256 * 2 * 4);
  const auto s1 = bytes_of("parm_s1");
  EXPECT_EQ(s1.at("dispatch"), 256 * 2 / 2 * 4);  // E*T*M*N_ESP/N_MP
  EXPECT_EQ(s1.at("combine"), 256 * 2 / 2 * 4);
  EXPECT_EQ(s1.at("mp_all_gather"), 16 * 8 * 4);  // B*L*M
  const auto s2 = bytes_of("parm_s2");
  EXPECT_EQ(s2.at("dispatch"), 256 * 2 / 2 * 4);
  EXPECT_EQ(s2.at("combine"), 256 * 2 / 2 * 4);    // P steps of 1/P each
  EXPECT_EQ(s2.at("mp_all_gather"), 256 * 2 * 4);  // E*T*M*N_ESP, before the local sum
}

TEST(ScheduleTest, UnknownNameListsTheNamesThereAre) {
  const Scenario scenario = small_scenario();
  try {
    build_schedule("megatron", scenario, degrees(scenario, 1, 1), unit_evaluator());
    FAIL() << "an unknown schedule must be refused";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("sp_moe"), std::string::npos);
  }
}

// One expert's rows are those of all tokens, 2^31 - 1024; the next multiple of lcm(1023, 1024) =
// 1,047,552 is 2051 times that, 2,148,529,152, and more than 2^31 - 1.
TEST(PaddingTest, WhatDoesNotFitIsAnError) {
  Scenario scenario = small_scenario();
  scenario.model.experts = scenario.model.top_k = 1;
  scenario.model.capacity_factor = 1;
  scenario.model.pad_capacity = true;
  scenario.parallel = {.mp = 1, .dp = 1, .esp = 1, .ep = 1, .edp = 1};
  scenario.model.batch = (1 << 21) - 1;
  scenario.model.sequence = 1024;
  try {
    build_schedule("fsmoe", scenario, degrees(scenario, 1023, 1024), unit_evaluator());
    FAIL() << "it builds a Program";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "pad_capacity makes 2148529152 rows for each expert; lower the degrees or the "
                 "capacity");
  }
}

}  // namespace
}  // namespace moesim
