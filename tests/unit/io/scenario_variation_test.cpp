// Scenarios: speeds of GPUs and jitter.
#include <gmock/gmock.h>

#include "tests/unit/io/scenario_fixture.h"

namespace moesim {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

using ScenarioVariationTest = ScenarioTest;

// Node 1 has ranks 4 to 7; where two speeds name a GPU, both hold.
TEST_F(ScenarioVariationTest, SpeedsAndJitter) {
  EXPECT_THAT(load().variation.rank_speed, IsEmpty());
  EXPECT_FALSE(load().variation.jitter);
  write_file_atomically(path_, std::string(kScenario) + R"(seed: 7 variation {
  speeds { at: "node:1/gpu:*" factor: 0.5 }
  speeds { at: "node:*/gpu:2" factor: 0.8 }
  jitter { relative_deviation: 0.05 distribution: SHIFTED_EXPONENTIAL }
})");
  const VariationConfig variation = load().variation;
  EXPECT_THAT(variation.rank_speed, ElementsAre(1, 1, 0.8, 1, 0.5, 0.5, 0.4, 0.5));
  ASSERT_TRUE(variation.jitter);
  EXPECT_EQ(variation.jitter->relative_deviation, 0.05);
  EXPECT_EQ(variation.jitter->distribution, JitterDistribution::kShiftedExponential);
  EXPECT_EQ(variation.jitter->seed, 7U);
  EXPECT_EQ(load({"variation.jitter.seed=9"}).variation.jitter->seed, 9U);
  EXPECT_FALSE(load({"variation.jitter.relative_deviation=0"}).variation.jitter);
}

TEST_F(ScenarioVariationTest, SpeedsOfWhatIsNoGpu) {
  const auto error_with = [this](const std::string& speed) {
    write_file_atomically(path_, std::string(kScenario) + "variation { speeds { " + speed + " } }");
    std::string text = error_of([this] { return load(); });
    return text.substr(text.find(".txtpb:") + 7);
  };
  EXPECT_EQ(error_with("at: 'node:0/nic:1' factor: 2"),
            "8:26: \"node:0/nic:1\" names no GPU; write \"node:3/gpu:1\", or * for any number");
  EXPECT_EQ(error_with("at: 'gpu:1' factor: 2"),
            "8:26: \"gpu:1\" names no GPU; write \"node:3/gpu:1\", or * for any number");
  EXPECT_EQ(error_with("at: 'node:2/gpu:*' factor: 2"),
            "8:26: no GPU \"node:2/gpu:*\"; cluster \"c\" has node:0 to node:1 with gpu:0 to gpu:3 "
            "each");
  EXPECT_THAT(error_with("at: 'node:0/gpu:-1' factor: 2"), StartsWith("8:26: no GPU"));
  EXPECT_EQ(error_with("at: 'node:0/gpu:0'"), "8:13: GpuSpeed has no \"factor\"; add it");
  EXPECT_EQ(error_with("at: 'node:0/gpu:0' factor: 0"),
            "8:49: factor is 0; write a number from 0.001 to 1000");
  EXPECT_EQ(
      error_with("at: 'node:0/gpu:0' factor: 0.01 } speeds { at: 'node:*/gpu:0' factor: 0.01"),
      "8:92: together with the factors before it, this makes a speed of 0.0001; write factors "
      "whose product is 0.001 to 1000");
}

}  // namespace
}  // namespace moesim
