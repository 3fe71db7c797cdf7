// The order of micro-batches on stages, written out by hand.
#include "sim/schedule/stage_order.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

namespace moesim {
namespace {

constexpr StageOrder kGpipe = StageOrder::kGpipe;
constexpr StageOrder k1F1B = StageOrder::kOneForwardOneBackward;

// "F0 F1 B0 B1"
std::string text(const std::vector<StagePass>& passes) {
  std::string text;
  for (const StagePass& pass : passes) {
    text += text.empty() ? "" : " ";
    text += pass.pass == Pass::kForward ? 'F' : 'B';
    text += std::to_string(pass.part.micro_batch);
  }
  return text;
}

std::string order(int stage, int num_stages, int micro_batches, StageOrder order) {
  return text(passes_of_stage(stage, num_stages, {micro_batches, order}));
}

// Huang et al. 2019, figure 2; micro-batches ascend backward too (Narayanan et al. 2021, figure 3).
TEST(PassesOfStageTest, GpipeGoesForwardWithAllBeforeItGoesBackward) {
  for (const int stage : {0, 1, 2}) {
    EXPECT_EQ(order(stage, 3, 4, kGpipe), "F0 F1 F2 F3 B0 B1 B2 B3");
  }
}

// Narayanan et al. 2021, figure 4, above: four stages.
TEST(PassesOfStageTest, OneForwardOneBackward) {
  EXPECT_EQ(order(0, 4, 6, k1F1B), "F0 F1 F2 F3 B0 F4 B1 F5 B2 B3 B4 B5");
  EXPECT_EQ(order(2, 4, 6, k1F1B), "F0 F1 B0 F2 B1 F3 B2 F4 B3 F5 B4 B5");
  EXPECT_EQ(order(3, 4, 6, k1F1B), "F0 B0 F1 B1 F2 B2 F3 B3 F4 B4 F5 B5");
}

TEST(PassesOfStageTest, FewerMicroBatchesThanStages) {
  EXPECT_EQ(order(0, 4, 2, k1F1B), "F0 F1 B0 B1");
  EXPECT_EQ(order(3, 4, 2, k1F1B), "F0 B0 F1 B1");
  EXPECT_EQ(order(0, 1, 1, k1F1B), "F0 B0");
  EXPECT_EQ(order(0, 1, 1, kGpipe), "F0 B0");
}

// A stage keeps a micro-batch's activations from its forward to its backward pass.
TEST(PassesOfStageTest, ActivationsKept) {
  for (const int num_stages : {1, 2, 4, 7}) {
    for (const int micro_batches : {1, 3, 16}) {
      for (int stage = 0; stage < num_stages; ++stage) {
        for (const StageOrder each : {kGpipe, k1F1B}) {
          int kept = 0;
          int most = 0;
          for (const StagePass& pass : passes_of_stage(stage, num_stages, {micro_batches, each})) {
            kept += pass.pass == Pass::kForward ? 1 : -1;
            most = std::max(most, kept);
          }
          EXPECT_EQ(kept, 0);
          EXPECT_EQ(most,
                    each == kGpipe ? micro_batches : std::min(micro_batches, num_stages - stage));
        }
      }
    }
  }
}

// Every stage's passes in its own order, each behind the neighbour's that it needs.
TEST(LaunchOrderTest, FollowsTheStagesAndTheirNeighbours) {
  for (const int num_stages : {1, 2, 3, 8}) {
    for (const int micro_batches : {1, 2, 5, 16}) {
      for (const StageOrder each : {kGpipe, k1F1B}) {
        const PipelineConfig pipeline{micro_batches, each};
        const std::vector<StagePass> launched = launch_order(num_stages, pipeline);
        const auto at = [&](const StagePass& pass) {
          return std::find(launched.begin(), launched.end(), pass) - launched.begin();
        };
        for (int stage = 0; stage < num_stages; ++stage) {
          std::vector<StagePass> own;
          for (const StagePass& pass : launched) {
            if (pass.part.stage == stage) {
              own.push_back(pass);
            }
            const bool forward = pass.pass == Pass::kForward;
            const int needed = pass.part.stage + (forward ? -1 : 1);
            if (0 <= needed && needed < num_stages) {
              EXPECT_LT(at({{needed, pass.part.micro_batch}, pass.pass}), at(pass));
            }
          }
          EXPECT_EQ(own, passes_of_stage(stage, num_stages, pipeline));
        }
      }
    }
  }
}

// Three stages: what one makes, the next takes in the same turn.
TEST(LaunchOrderTest, StagesTakeTurns) {
  const auto launched = launch_order(2, {2, k1F1B});
  EXPECT_EQ(text(launched), "F0 F0 F1 B0 B0 F1 B1 B1");
}

}  // namespace
}  // namespace moesim
