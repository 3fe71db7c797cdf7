// Stages and micro-batches of a scenario file: what they divide, and what is said where they do
// not.
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/io/files.h"
#include "sim/io/inputs.h"
#include "tests/unit/io/error_of.h"

namespace moesim {
namespace {

constexpr const char* kScenario = R"(cluster: "c.txtpb" profile: "p.txtpb"
model {
  layers: 6 batch: 8 sequence: 512 embedding: 64 hidden: 64
  heads: 4 experts: 4 top_k: 2 capacity_factor: "1.25"
}
parallel { pp: 2 mp: 2 esp: 2 edp: 1 }
pipeline { micro_batches: 4 }
schedules: ["tutel"]
)";

class StagesTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "stages_" +
              testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::create_directories(folder_);
    write_file_atomically(folder_ + "/c.txtpb",
                          R"(num_nodes: 4 gpus_per_node: 4 gpu_memory: "16 GiB"
intra_node { rate: "16 GB/s" } inter_node { rate: "200 Gb/s" })");
    write_file_atomically(folder_ + "/p.txtpb", "");
    write_file_atomically(folder_ + "/s.txtpb", kScenario);
  }

  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] Scenario load(const std::vector<std::string>& overrides = {}) const {
    return load_inputs(folder_ + "/s.txtpb", {.overrides = overrides}).scenario;
  }

  // What is said of an override, without its location.
  [[nodiscard]] std::string error(const std::string& override) const {
    const std::string text = error_of([&] { return load({override}); });
    return text.substr(text.find(": ") + 2);
  }

  std::string folder_;
};

// 16 GPUs: 8 of a stage, dp = 8 / 2 and ep = 8 / 2.
TEST_F(StagesTest, GroupSizesFollowFromTheGpusOfAStage) {
  const Scenario scenario = load();
  EXPECT_EQ(scenario.parallel.pp, 2);
  EXPECT_EQ(scenario.parallel.dp, 4);
  EXPECT_EQ(scenario.parallel.ep, 4);
  EXPECT_EQ(scenario.parallel.stage_ranks(), 8);
  EXPECT_EQ(scenario.parallel.world(), 16);
  EXPECT_EQ(scenario.pipeline.micro_batches, 4);
  EXPECT_EQ(scenario.pipeline.order, StageOrder::kOneForwardOneBackward);
  EXPECT_EQ(scenario.stage_model().layers, 3);
  EXPECT_EQ(scenario.stage_model().batch, 2);
  EXPECT_EQ(load({"pipeline.schedule=GPIPE"}).pipeline.order, StageOrder::kGpipe);
}

TEST_F(StagesTest, OneStageAndOneMicroBatchAreTheDefault) {
  write_file_atomically(folder_ + "/s.txtpb",
                        R"(cluster: "c.txtpb" profile: "p.txtpb"
model { layers: 1 batch: 1 sequence: 8 embedding: 8 hidden: 8 heads: 1 experts: 1 top_k: 1
        capacity_factor: "*" }
parallel { mp: 1 esp: 1 ep: 1 })");
  const Scenario scenario = load();
  EXPECT_EQ(scenario.parallel.pp, 1);
  EXPECT_EQ(scenario.parallel.dp, 16);
  EXPECT_EQ(scenario.pipeline.micro_batches, 1);
}

TEST_F(StagesTest, WhatDoesNotDivideIsSaid) {
  EXPECT_EQ(error("parallel.pp=3"),
            "3 stages do not divide the 16 GPUs of cluster \"c\"; change pp or the cluster");
  EXPECT_EQ(error("parallel.pp=4"), "layers = 6 does not divide by pp = 4; change one of them");
  EXPECT_EQ(
      error("parallel.mp=16"),
      "16 ranks of mp * dp do not divide the 8 GPUs a stage of cluster \"c\"; change mp or the "
      "cluster");
  EXPECT_EQ(
      error("parallel.dp=2"),
      "mp * dp is 4, but cluster \"c\" has 8 GPUs a stage; change one of them or leave one out");
  EXPECT_EQ(error("pipeline.micro_batches=3"),
            "batch = 8 does not divide by micro_batches = 3; change one of them");
  EXPECT_EQ(error("pipeline.micro_batches=0"),
            "micro_batches is 0; write a number from 1 to 10000");
  EXPECT_EQ(error("model.batch=6"),
            "batch = 6 does not divide by micro_batches = 4; change one of them");
  EXPECT_THAT(error("pipeline.schedule=ZERO_BUBBLE"), testing::HasSubstr("ONE_F_ONE_B"));
}

// 8 samples of 3 tokens divide by mp = 4, the 1 * 3 of a micro-batch do not.
TEST_F(StagesTest, TokensOfAMicroBatchDivideByMp) {
  EXPECT_EQ(load({"parallel.mp=4", "model.sequence=3", "pipeline.micro_batches=2"}).model.sequence,
            3);
  EXPECT_THAT(
      error_of([&] {
        return load({"parallel.mp=4", "model.sequence=3", "pipeline.micro_batches=8"});
      }),
      testing::HasSubstr("batch / micro_batches * sequence = 3 tokens do not divide by mp = 4"));
}

}  // namespace
}  // namespace moesim
