// Kernels on more rows, experts and columns than a block has threads, beside the host's operations:
// whole Programs of the property tests are too small for that.
#include <gtest/gtest.h>

#include "kernels/inputs.h"
#include "kernels/sequential_executor.h"
#include "tests/support/lowered_run.h"
#include "tests/unit/kernels/device/device_bench.h"

namespace moesim {
namespace {

using testing::BlockOrder;

constexpr int kRows = 300;     // FillExpertSlots, FillChosenSlots: 256 and 128 threads
constexpr int kExperts = 300;  // SumSlots: 128 threads
constexpr int kColumns = 1029;  // more than 8 * 128, no multiple of kPackSize

// A layer of one rank without its experts: gate, order, unorder, and back.
Program layer_program(GateKind kind, int slots) {
  testing::DeviceBench bench;
  std::vector<int> experts(kExperts);
  for (int i = 0; i < kExperts; ++i) {
    experts[static_cast<size_t>(i)] = kExperts - 1 - i;  // blocks in another order than experts
  }
  const auto tokens = [&](bool input = false) { return bench.tensor(1, kRows, kColumns, input); };
  const auto slot_rows = [&](int columns) { return bench.tensor(kExperts, slots, columns); };
  const Gate gate{.gate = kind, .top_k = 5, .experts = experts};
  const int x = tokens(true);
  const int dy = tokens(true);
  const int w = bench.tensor(1, kColumns, kExperts, true);
  const int probs = bench.tensor(1, kRows, kExperts);
  const int index = bench.tensor(kExperts, slots, 1, false, DataType::kInt32);
  const int weight = slot_rows(1);
  const int buffer = slot_rows(kColumns);
  bench.add(gate, {x, w}, {probs, index, weight});
  bench.add(Order{experts}, {x, index}, {buffer});
  bench.add(Unorder{experts}, {buffer, index, weight}, {tokens()});
  const int d_buffer = slot_rows(kColumns);
  const int d_weight = slot_rows(1);
  const int dw = bench.tensor(1, kColumns, kExperts);
  bench.add(Unorder{experts}, {dy, buffer, index, weight}, {d_buffer, d_weight}, Pass::kBackward);
  bench.add(Order{experts}, {d_buffer, index}, {tokens()}, Pass::kBackward);
  bench.add(gate, {d_weight, probs, index, x, w}, {tokens(), dw}, Pass::kBackward);
  return bench.program();
}

class LargeKernelsTest : public ::testing::TestWithParam<GateKind> {};

TEST_P(LargeKernelsTest, EqualTheHostBitForBit) {
  constexpr int kSlots = 4;  // 5 are chosen on average: some are dropped
  const Program program = layer_program(GetParam(), kSlots);
  const RowMap map(program);
  TensorStore expected(program);
  fill_inputs(InputData::kReal, expected);
  TensorStore actual = expected;
  run_in_launch_order(map, Rounding::kOff, expected);
  testing::run_lowered(map, {.rounding = Rounding::kOff, .order = BlockOrder::kShuffled}, actual);
  for (size_t i = 0; i < program.tensors.size(); ++i) {
    const auto tensor = static_cast<int>(i);
    const auto left = actual.contents(0, tensor);
    const auto right = expected.contents(0, tensor);
    EXPECT_TRUE(std::equal(left.begin(), left.end(), right.begin())) << "tensor " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Gates,
                         LargeKernelsTest,
                         ::testing::Values(GateKind::kGshard,
                                           GateKind::kSigmoid,
                                           GateKind::kXmoe,
                                           GateKind::kExpertChoice));

}  // namespace
}  // namespace moesim
