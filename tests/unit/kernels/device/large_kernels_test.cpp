// Kernels on more rows, experts and columns than a block has threads, beside the host's operations:
// whole Programs of the property tests are too small for that.
#include <gtest/gtest.h>

#include "kernels/inputs.h"
#include "kernels/sequential_executor.h"
#include "tests/support/lowered_run.h"

namespace moesim {
namespace {

using testing::BlockOrder;

constexpr int kRows = 300;     // FillExpertSlots, FillChosenSlots: 256 and 128 threads
constexpr int kExperts = 300;  // SumSlots: 128 threads
constexpr int kColumns = 517;  // more than 4 * 128, no multiple of 4

// A layer of one rank without its experts: gate, order, unorder, and back.
class LayerProgram {
 public:
  explicit LayerProgram(GateKind kind, int slots_per_expert) : slots_(slots_per_expert) {
    program_.num_ranks = 1;
    program_.streams = {"compute"};
    std::vector<int> experts(kExperts);
    for (int i = 0; i < kExperts; ++i) {
      experts[static_cast<size_t>(i)] = kExperts - 1 - i;  // blocks in another order than experts
    }
    const Gate gate{.gate = kind, .top_k = 5, .experts = experts};
    const int x = tokens(true);
    const int dy = tokens(true);
    const int w = tensor(1, kColumns, kExperts, true);
    const int probs = tensor(1, kRows, kExperts);
    const int index = tensor(kExperts, slots_, 1, false, DataType::kInt32);
    const int weight = slot_rows(1);
    const int buffer = slot_rows(kColumns);
    const int y = tokens();
    add(gate, {x, w}, {probs, index, weight});
    add(Order{experts}, {x, index}, {buffer});
    add(Unorder{experts}, {buffer, index, weight}, {y});
    const int d_buffer = slot_rows(kColumns);
    const int d_weight = slot_rows(1);
    const int dx = tokens();
    const int dx_gate = tokens();
    const int dw = tensor(1, kColumns, kExperts);
    add(Unorder{experts}, {dy, buffer, index, weight}, {d_buffer, d_weight}, Pass::kBackward);
    add(Order{experts}, {d_buffer, index}, {dx}, Pass::kBackward);
    add(gate, {d_weight, probs, index, x, w}, {dx_gate, dw}, Pass::kBackward);
  }

  const Program& program() const { return program_; }

 private:
  int tensor(
      int blocks, int rows, int columns, bool input = false, DataType type = DataType::kFp32) {
    const auto number = static_cast<int>(program_.tensors.size());
    program_.tensors.push_back(
        {"t" + std::to_string(number), blocks, rows, columns, type, input, number, {}});
    return number;
  }
  int tokens(bool input = false) { return tensor(1, kRows, kColumns, input); }
  int slot_rows(int columns) { return tensor(kExperts, slots_, columns); }

  void add(const Descriptor& descriptor,
           const std::vector<int>& reads,
           const std::vector<int>& writes,
           Pass pass = Pass::kForward) {
    Task& task = program_.tasks.emplace_back();
    task.name = "task" + std::to_string(program_.tasks.size());
    task.stream = 0;
    task.pass = pass;
    task.descriptor = descriptor;
    const auto regions = [this](const std::vector<int>& tensors) {
      std::vector<Region> all;
      for (const int tensor : tensors) {
        const Tensor& shape = program_.tensors[static_cast<size_t>(tensor)];
        all.push_back({tensor, 0, shape.blocks, 0, shape.rows, kNone});
      }
      return all;
    };
    task.reads = regions(reads);
    task.writes = regions(writes);
  }

  int slots_;
  Program program_;
};

class LargeKernelsTest : public ::testing::TestWithParam<GateKind> {};

TEST_P(LargeKernelsTest, EqualTheHostBitForBit) {
  constexpr int kSlots = 4;  // 5 are chosen on average: some are dropped
  const LayerProgram layer(GetParam(), kSlots);
  const RowMap map(layer.program());
  TensorStore expected(layer.program());
  fill_inputs(InputData::kReal, expected);
  TensorStore actual = expected;
  run_in_launch_order(map, Rounding::kOff, expected);
  testing::run_lowered(map, {.rounding = Rounding::kOff, .order = BlockOrder::kShuffled}, actual);
  for (size_t i = 0; i < layer.program().tensors.size(); ++i) {
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
