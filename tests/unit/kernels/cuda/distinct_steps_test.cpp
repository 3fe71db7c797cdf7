#include "kernels/cuda/distinct_steps.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace moesim {
namespace {

using ::testing::ElementsAre;

DeviceStep kernel_step(const KernelBody& body, int64_t blocks) {
  return {Kernel{body, blocks}, {}};
}

// 4 rows of 8 columns, whose sums have `depth` terms.
Product product(int64_t depth, bool adds = false, ElementType type = ElementType::kFloat32) {
  return {.left = {{256, type}, 4, depth, depth, false},
          .right = {{1024, type}, depth, 8, 8, false},
          .target = {4096, ElementType::kFloat32},
          .target_stride = 8,
          .add = adds};
}

std::vector<std::string> names(const DistinctSteps& distinct) {
  std::vector<std::string> result;
  for (const DeviceStep& step : distinct.steps()) {
    result.emplace_back(name_of(step.action));
  }
  return result;
}

// Whatever its arguments.
TEST(DistinctStepsTest, AKernelIsTakenOnce) {
  DistinctSteps distinct;
  distinct.add({kernel_step(GatherRows{}, 1), kernel_step(SumSlots{}, 1)});
  distinct.add({kernel_step(GatherRows{}, 7), kernel_step(MapSlots{}, 1)});
  EXPECT_THAT(names(distinct), ElementsAre("gather_rows", "sum_slots", "map_slots"));
}

TEST(DistinctStepsTest, AFillAndACopyAreTakenOnce) {
  DistinctSteps distinct;
  distinct.add({fill_step({256, 8, 0}), copy_step({256, 512, 8}), fill_step({512, 16, 1})});
  distinct.add({copy_step({512, 256, 16})});
  EXPECT_THAT(names(distinct), ElementsAre("fill", "copy"));
}

// By shape, types and alignment, plain and added; where it stands does not matter otherwise.
TEST(DistinctStepsTest, AProductIsTakenOnceForEachPlan) {
  DistinctSteps distinct;
  Product elsewhere = product(2);
  elsewhere.target.address += 1024;
  distinct.add({products_step({{product(2), product(2), elsewhere, product(3)}})});
  EXPECT_EQ(distinct.steps().size(), 2U);
  distinct.add({products_step({{product(2, true), product(3)}})});
  EXPECT_EQ(distinct.steps().size(), 3U);
  distinct.add({products_step({{product(2, false, ElementType::kBfloat16)}})});
  EXPECT_EQ(distinct.steps().size(), 4U);
  Product less_aligned = product(2);
  less_aligned.left.at.address += 4;
  distinct.add({products_step({{less_aligned}})});
  EXPECT_EQ(distinct.steps().size(), 5U);
  for (const DeviceStep& step : distinct.steps()) {
    EXPECT_EQ(std::get<Products>(step.action).products.size(), 1U);
  }
}

// A sum of no terms is a fill of rows; added, it is nothing.
TEST(DistinctStepsTest, AProductOfNoDepthIsAFill) {
  DistinctSteps distinct;
  distinct.add({products_step({{product(0, true)}})});
  EXPECT_TRUE(distinct.steps().empty());
  distinct.add({products_step({{product(0), product(0)}})});
  EXPECT_EQ(distinct.steps().size(), 1U);
}

DeviceStep backward_step(const FusedAttention& forward) {
  FusedAttentionBackward backward;
  backward.forward = forward;
  return attention_step(backward);
}

TEST(DistinctStepsTest, AnAttentionIsTakenOnceForEachLayout) {
  FusedAttention one;
  one.extent = {.head_size = 64, .queries = 8, .keys = 8};
  FusedAttention elsewhere = one;
  elsewhere.workspace = 512;
  FusedAttention longer = one;
  longer.extent.keys = 16;
  FusedAttention wider = one;
  wider.context.row_step = 256;
  DistinctSteps distinct;
  distinct.add({attention_step(one), attention_step(elsewhere), attention_step(longer)});
  distinct.add({attention_step(wider), backward_step(one)});
  distinct.add({backward_step(elsewhere)});
  EXPECT_THAT(
      names(distinct),
      ElementsAre(
          "fused_attention", "fused_attention", "fused_attention", "fused_attention_backward"));
}

}  // namespace
}  // namespace moesim
