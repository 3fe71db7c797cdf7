// Boards that FSMoE's testbeds may have had: what links make of single collectives, by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/cli/validate/boards.h"
#include "sim/cli/validate/sections.h"

namespace moesim::validation {
namespace {

using testing::HasSubstr;

constexpr double kNanosecond = 1e-9;
constexpr double kPcie4 = 31.5;  // bytes per nanosecond
constexpr double kNic = 25;      // 200 Gb/s
constexpr double kRelative = 1e-6;

Inputs testbed_a() {
  return load_inputs("scenarios/mixtral_testbed_a.txtpb",
                     {.cluster = "topologies/pcie_a6000.txtpb"});
}

Inputs testbed_b() {
  return load_inputs("scenarios/mixtral_testbed_b.txtpb",
                     {.cluster = "topologies/pcie_2080ti.txtpb"});
}

void expect_seconds(double seconds, double nanoseconds) {
  EXPECT_NEAR(seconds, nanoseconds * kNanosecond, kRelative * nanoseconds * kNanosecond);
}

// The ring 0 1 … 7 carries 7/8 of the bytes over each edge. NVLink has 0-1, 2-3, 4-5, 6-7. Through
// host memory 1-2 goes up and down the first switch's uplink, 3-4 up, 7-0 down: two each way. All
// eight GPUs' AlltoAlls, 5/6 of the bytes, leave by one NIC.
TEST(BoardsTest, FourGpusASwitchThroughHostMemory) {
  const Board board = board_of(testbed_a(), {.gpus_per_switch = 4});
  const ByCollective seconds = by_links(board);
  expect_seconds(seconds[0], 8 * (5.0 / 6) / kNic);
  expect_seconds(seconds[1], 2 * 8 * (5.0 / 6) / kNic);
  expect_seconds(seconds[2], 2 * (7.0 / 8) / kPcie4);
  expect_seconds(seconds[3], 2 * (7.0 / 8) / kPcie4);
}

// With the NIC at the first switch and no GPUDirect, what leaves goes up and down that uplink: from
// its own four GPUs up, once more down to the NIC from all eight; so does what comes. Down: 4 that
// are received by its GPUs + 8 sent; up: 8 received + 4 sent: 12 * 5/6 of the bytes.
TEST(BoardsTest, NicAtTheSwitchWithoutGpuDirect) {
  const BoardChoice choice{.gpus_per_switch = 4, .nic = NicPlacement::kSwitch};
  const Board board = board_of(testbed_a(), choice);
  const ByCollective seconds = by_links(board);
  expect_seconds(seconds[0], 12 * (5.0 / 6) / kPcie4);
  // Use of that uplink beside an AllGather, of the measured 0.5525 and 0.058 ns per byte.
  const Conflict conflict = conflict_on(with_private_bottlenecks(board));
  EXPECT_NEAR(
      conflict.fullest, 12 * (5.0 / 6) / kPcie4 / 0.5525 + 2 * (7.0 / 8) / kPcie4 / 0.058, 1e-3);
  EXPECT_FALSE(conflict.alone);
  EXPECT_NE(conflict.pattern, "");
}

// Each GPU's link carries 5/6 of its AlltoAll and one edge of the ring: 0.026 / 0.5525 + 0.028 /
// 0.058, far from full.
TEST(BoardsTest, NothingIsDelayedAtRootPorts) {
  const Conflict conflict = conflict_on(with_private_bottlenecks(board_of(testbed_a(), {})));
  EXPECT_LT(conflict.fullest, 1);
  EXPECT_EQ(conflict.pattern, "");
}

// Spent on a link that both cross, both fill it: an overlap gains nothing.
TEST(BoardsTest, SharedTimesFillThePartTwice) {
  const auto shared = with_shared_bottleneck(board_of(testbed_a(), {.gpus_per_switch = 4}));
  ASSERT_TRUE(shared.has_value());
  EXPECT_EQ(shared->part, "PCIe switches' uplinks");
  EXPECT_NEAR(conflict_on(shared->testbed).fullest, 2, 1e-6);
}

TEST(BoardsTest, EveryLayoutWithAndWithoutBothAccesses) {
  EXPECT_EQ(boards_of(testbed_a()).size(), 7U * 4);
  EXPECT_EQ(boards_of(testbed_b()).size(), 5U * 4);  // half of four GPUs is two
}

TEST(BoardsStudyTest, PrefersByWhatSingleCollectivesTake) {
  BoardsStudy study;
  study.testbed_a = testbed_a();
  study.testbed_b = testbed_b();
  study.gpt2xl_a = testbed_a();
  study.gpt2xl_b = testbed_b();
  for (Inputs* model : {&study.gpt2xl_a, &study.gpt2xl_b}) {
    model->scenario.model.layers = 2;
  }
  study.num_workers = 2;
  study.stride = 485;  // two points
  const Finding finding = study_boards(study);
  EXPECT_EQ(finding.num_misses, 0);
  EXPECT_THAT(finding.text,
              HasSubstr("by more than 5 %: \"4 GPUs a switch, NIC at the first\" without GPUDirect "
                        "and without peer access."));
  EXPECT_THAT(finding.text, HasSubstr("145 148 113 114 (!)"));
}

}  // namespace
}  // namespace moesim::validation
