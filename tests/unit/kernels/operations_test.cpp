// Operations on Programs of a few rows whose results a reader can redo.
#include <cmath>
#include <limits>
#include <map>
#include <memory>

#include <gmock/gmock.h>

#include "kernels/operation.h"
#include "kernels/sequential_executor.h"
#include "sim/base/error.h"

namespace moesim {
namespace {

using ::testing::ElementsAre;

// A Program of one rank, or of more where a group says so, with tensors to fill and read.
class Bench {
 public:
  explicit Bench(int num_ranks = 1) {
    program_.name = "bench";
    program_.num_ranks = num_ranks;
    program_.streams = {"compute"};
  }

  int tensor(int blocks, int rows, int columns, DataType type = DataType::kFp32) {
    const std::string name = "t" + std::to_string(program_.tensors.size());
    program_.tensors.push_back({name, blocks, rows, columns, type, false, 0, {}});
    return static_cast<int>(program_.tensors.size()) - 1;
  }
  int index(int blocks, int rows) { return tensor(blocks, rows, 1, DataType::kInt32); }

  int group(std::vector<std::vector<int>> members) {
    program_.groups.push_back({"g" + std::to_string(program_.groups.size()), std::move(members)});
    return static_cast<int>(program_.groups.size()) - 1;
  }

  int routing(std::vector<std::vector<int>> tokens) {
    program_.routings.push_back({"r", std::move(tokens)});
    return 0;
  }

  Task& task(const Descriptor& descriptor,
             const std::vector<int>& reads,
             const std::vector<int>& writes,
             Pass pass = Pass::kForward) {
    Task& task = program_.tasks.emplace_back();
    task.name = "task" + std::to_string(program_.tasks.size());
    task.stream = 0;
    task.pass = pass;
    task.descriptor = descriptor;
    for (const int tensor : reads) {
      task.reads.push_back(all(tensor));
    }
    for (const int tensor : writes) {
      task.writes.push_back(all(tensor));
    }
    return task;
  }

  Program& program() { return program_; }

  // Fills tensors of rank 0 (by index) before the tasks run.
  void fill(int tensor, std::vector<float> values) { values_[tensor] = std::move(values); }
  void fill_index(int tensor, std::vector<int32_t> values) { indices_[tensor] = std::move(values); }

  void run(Rounding rounding = Rounding::kOff) {
    const std::vector<int> ranks = all_ranks(program_);
    store_ = std::make_unique<TensorStore>(program_, ranks);
    for (const int rank : ranks) {
      for (const auto& [tensor, values] : values_) {
        std::copy(values.begin(), values.end(), store_->values(rank, tensor));
      }
      for (const auto& [tensor, values] : indices_) {
        std::copy(values.begin(), values.end(), store_->indices(rank, tensor));
      }
    }
    run_in_launch_order(RowMap(program_), rounding, *store_);
  }

  std::vector<float> values(int tensor, int rank = 0) const {
    const float* first = store_->values(rank, tensor);
    return {first, first + size(tensor)};
  }
  std::vector<int> indices(int tensor, int rank = 0) const {
    const int32_t* first = store_->indices(rank, tensor);
    return {first, first + size(tensor)};
  }

 private:
  Region all(int tensor) const {
    const Tensor& shape = program_.tensors[static_cast<size_t>(tensor)];
    return {tensor, 0, shape.blocks, 0, shape.rows, kNone};
  }
  int64_t size(int tensor) const {
    const Tensor& shape = program_.tensors[static_cast<size_t>(tensor)];
    return int64_t{shape.blocks} * shape.rows * shape.columns;
  }

  Program program_;
  std::map<int, std::vector<float>> values_;
  std::map<int, std::vector<int32_t>> indices_;
  std::unique_ptr<TensorStore> store_;
};

Gate gate_of(std::vector<int> experts, int top_k) {
  Gate gate;
  gate.top_k = top_k;
  gate.experts = std::move(experts);
  return gate;
}

// A gate on `rows` tokens of one column; the logits are x * w.
struct GateBench {
  GateBench(Bench& bench, const Gate& gate, int rows, int num_experts, int slots)
      : x(bench.tensor(1, rows, 1)),
        w(bench.tensor(1, 1, num_experts)),
        probs(bench.tensor(1, rows, num_experts)),
        index(bench.index(static_cast<int>(gate.experts.size()), slots)),
        weight(bench.tensor(static_cast<int>(gate.experts.size()), slots, 1)) {
    bench.task(gate, {x, w}, {probs, index, weight});
  }

  int x;
  int w;
  int probs;
  int index;
  int weight;
};

TEST(GateOperationTest, LaterTokensAreDropped) {
  Bench bench;
  const GateBench gate(bench, gate_of({0, 1}, 1), 4, 2, 2);
  bench.fill(gate.x, {1, 1, -1, 1});
  bench.fill(gate.w, {1, 0});
  bench.run();
  // Rows 0, 1, 3 prefer expert 0, which has two slots; row 2 prefers expert 1.
  EXPECT_THAT(bench.indices(gate.index), ElementsAre(0, 1, 2, -1));
  // One choice: normalised to 1. The empty slot weighs nothing.
  EXPECT_THAT(bench.values(gate.weight), ElementsAre(1, 1, 1, 0));
}

TEST(GateOperationTest, AnExpertsSlotsContinueThroughItsBlocks) {
  Bench bench;
  const GateBench gate(bench, gate_of({0, 1, 0, 1}, 1), 4, 2, 1);
  bench.fill(gate.x, {1, -1, 1, 1});
  bench.fill(gate.w, {1, 0});
  bench.run();
  EXPECT_THAT(bench.indices(gate.index), ElementsAre(0, 1, 2, -1));
}

TEST(GateOperationTest, EachDomainHasItsShareOfAnExpertsSlots) {
  Bench bench;
  Gate gate = gate_of({0, 1, 0, 1}, 1);
  gate.domains = 2;
  const GateBench built(bench, gate, 4, 2, 1);
  bench.fill(built.x, {1, 1, 1, -1});
  bench.fill(built.w, {1, 0});
  bench.run();
  // Rows 0, 1 are one domain, with the first block of each expert; rows 2, 3 the other.
  EXPECT_THAT(bench.indices(built.index), ElementsAre(0, -1, 2, 3));
}

TEST(GateOperationTest, WithoutCapacityAndRoutingExpertsTakeTurns) {
  Bench bench;
  Gate gate = gate_of({0, 1, 2}, 2);
  gate.no_drop = true;
  const GateBench built(bench, gate, 3, 3, 2);
  bench.fill(built.x, {1, 1, 1});
  bench.fill(built.w, {3, 2, 1});
  bench.run();
  // Row r choice j goes to (2r + j) mod 3: rows 0, 1 to expert 0; 0, 2 to 1; 1, 2 to 2.
  EXPECT_THAT(bench.indices(built.index), ElementsAre(0, 1, 0, 2, 1, 2));
}

TEST(GateOperationTest, ARoutingGivesTheChoicesAndScoresTheWeights) {
  Bench bench;
  Gate gate = gate_of({0, 1, 2}, 2);
  gate.no_drop = true;
  gate.routing = bench.routing({{1, 3, 2}});
  const GateBench built(bench, gate, 3, 3, 3);
  bench.fill(built.x, {1, 1, 1});
  bench.fill(built.w, {0, 0, 0});
  bench.run();
  // The list 0 1 1 1 2 2, entry p to row p mod 3: row 0 to 0 and 1, row 1 to 1 and 2, row 2 to 1
  // and 2. Only as many rows of a block as it has tokens are written.
  const std::vector<int> index = bench.indices(built.index);
  EXPECT_EQ(index[0], 0);
  EXPECT_THAT(std::vector<int>(index.begin() + 3, index.begin() + 6), ElementsAre(0, 1, 2));
  EXPECT_THAT(std::vector<int>(index.begin() + 6, index.begin() + 8), ElementsAre(1, 2));
  EXPECT_FLOAT_EQ(bench.values(built.weight)[3], 0.5F);  // equal scores
  EXPECT_TRUE(std::isnan(bench.values(built.weight)[1]));
}

TEST(GateOperationTest, ExpertsChooseTheirTokens) {
  Bench bench;
  Gate gate = gate_of({0, 1}, 1);
  gate.gate = GateKind::kExpertChoice;
  const GateBench built(bench, gate, 3, 2, 2);
  bench.fill(built.x, {1, 3, 2});
  bench.fill(built.w, {1, 0});
  bench.run();
  // The probability of expert 0 rises with x: rows 1, 2; that of expert 1 falls: rows 0, 2.
  EXPECT_THAT(bench.indices(built.index), ElementsAre(1, 2, 0, 2));
}

// An index out of range is what a race leaves: it counts as empty.
TEST(OrderOperationTest, GarbageIndicesAreEmptySlots) {
  Bench bench;
  const int x = bench.tensor(1, 2, 1);
  const int index = bench.index(1, 4);
  const int buffer = bench.tensor(1, 4, 1);
  bench.task(Order{{0}}, {x, index}, {buffer});
  bench.fill(x, {5, 7});
  bench.fill_index(index, {1, 2, std::numeric_limits<int32_t>::min(), 2'000'000'000});
  bench.run();
  EXPECT_THAT(bench.values(buffer), ElementsAre(7, 0, 0, 0));
}

TEST(OrderOperationTest, BackwardAddsUpATokensSlots) {
  Bench bench;
  const int d_buffer = bench.tensor(2, 2, 1);
  const int index = bench.index(2, 2);
  const int dx = bench.tensor(1, 3, 1);
  bench.task(Order{{0, 1}}, {d_buffer, index}, {dx}, Pass::kBackward);
  bench.fill(d_buffer, {1, 2, 4, 8});
  bench.fill_index(index, {0, 2, 2, -1});
  bench.run();
  EXPECT_THAT(bench.values(dx), ElementsAre(1, 0, 6));
}

TEST(UnorderOperationTest, WeighsAndDifferentiates) {
  Bench bench;
  const int buffer = bench.tensor(2, 1, 2);
  const int index = bench.index(2, 1);
  const int weight = bench.tensor(2, 1, 1);
  const int y = bench.tensor(1, 2, 2);
  const int dy = bench.tensor(1, 2, 2);
  const int d_buffer = bench.tensor(2, 1, 2);
  const int d_weight = bench.tensor(2, 1, 1);
  bench.task(Unorder{{0, 1}}, {buffer, index, weight}, {y});
  bench.task(Unorder{{0, 1}}, {dy, buffer, index, weight}, {d_buffer, d_weight}, Pass::kBackward);
  bench.fill(buffer, {1, 2, 3, 4.3F});
  bench.fill_index(index, {1, 1});
  bench.fill(weight, {0.5F, 0.26F});
  bench.fill(dy, {9, 9, 1, -1});
  bench.run(Rounding::kExact);
  // Row 1: 0.5 * (1, 2) + q(0.26) * (3, q(4.3)) = (0.5, 1) + 0.25 * (3, 4).
  EXPECT_THAT(bench.values(y), ElementsAre(0, 0, 1.25F, 2));
  EXPECT_THAT(bench.values(d_buffer), ElementsAre(0.5F, -0.5F, 0.25F, -0.25F));
  EXPECT_THAT(bench.values(d_weight), ElementsAre(-1, -1));  // 1 - 2, 3 - 4
}

TEST(ElementwiseOperationTest, TheLossIsHeldByTheFirstMember) {
  Bench bench(2);
  const int group = bench.group({{0, 1}});
  const int output = bench.tensor(1, 1, 2);
  const int target = bench.tensor(1, 1, 2);
  const int gradient = bench.tensor(1, 1, 2);
  bench.program().tensors[static_cast<size_t>(gradient)].placement = {
      {group, PlacementAxis::kPartial}};
  bench.task(Elementwise{ElementwiseOperation::kLoss}, {output, target}, {gradient});
  bench.fill(output, {1.3F, 9});
  bench.fill(target, {1, 1});
  bench.run(Rounding::kExact);
  EXPECT_THAT(bench.values(gradient, 0), ElementsAre(0.25F, 3));  // q(1.3) - 1, 4 - 1
  EXPECT_THAT(bench.values(gradient, 1), ElementsAre(0, 0));
}

TEST(OptimizerOperationTest, AdamKeepsMomentsAndACopy) {
  Bench bench;
  const int gradient = bench.tensor(1, 1, 2);
  const int weight = bench.tensor(1, 1, 2, DataType::kBf16);
  const int state = bench.tensor(1, 1, 6);
  bench.task(Optimizer{OptimizerAlgorithm::kAdam}, {gradient, weight, state}, {weight, state});
  bench.fill(gradient, {2, 0});
  bench.fill(weight, {0, 1});
  bench.fill(state, {0, 0, 0, 0, 0, 0});
  bench.run();
  const std::vector<float> kept = bench.values(state);
  EXPECT_FLOAT_EQ(kept[0], 0.2F);
  EXPECT_NEAR(kept[2], 0.004F, 1e-6F);
  EXPECT_EQ(kept[4], bench.values(weight)[0]);
  EXPECT_EQ(kept[5], 1.0F);
}

TEST(OperationTest, AMissingOperandIsAnError) {
  Bench bench;
  const int x = bench.tensor(1, 2, 1);
  bench.task(Order{{0}}, {x}, {x});
  EXPECT_THROW(bench.run(), Error);
}

TEST(OperationTest, TasksWithoutRegionsComputeNothing) {
  Bench bench;
  const Task& task = bench.task(Expert{{0}, false}, {}, {});
  EXPECT_EQ(make_operation(RowMap(bench.program()), task, 0, Rounding::kOff), nullptr);
}

}  // namespace
}  // namespace moesim
