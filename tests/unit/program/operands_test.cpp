// Shapes by kind: a right task of each kind, then what breaks it.
#include "sim/program/operands.h"

#include <gmock/gmock.h>

#include "sim/program/builder.h"
#include "tests/unit/program/example_programs.h"

namespace moesim {
namespace {

using testing::ExampleSizes;
using testing::fsmoe_program;
using ::testing::HasSubstr;
using ::testing::Optional;
using testing::parm_s2_program;
using testing::task_named;

ExampleSizes two_chunks() {
  ExampleSizes sizes;
  sizes.forward_degree = 2;
  sizes.backward_degree = 2;
  return sizes;
}

// The FSMoE example with one task changed.
class MoeOperandsTest : public ::testing::Test {
 protected:
  Task& task(const std::string& name) { return program_.tasks[task_named(program_, name)]; }
  std::optional<std::string> fault(const std::string& name) {
    return operand_fault(program_, task(name));
  }

  Program program_ = fsmoe_program(two_chunks());
};

TEST_F(MoeOperandsTest, TheExampleIsRight) {
  for (const Task& task : program_.tasks) {
    EXPECT_EQ(operand_fault(program_, task), std::nullopt) << task.name;
  }
}

TEST_F(MoeOperandsTest, MissingAndSurplusOperands) {
  task("l0.f.unorder").reads.pop_back();
  EXPECT_THAT(fault("l0.f.unorder"),
              Optional(HasSubstr("it reads 2 and writes 1 regions; its kind needs 3 and 1")));
  task("l0.f.order").reads.push_back(task("l0.f.gate").reads[1]);
  EXPECT_THAT(fault("l0.f.order"), Optional(HasSubstr("reads tensor 'l0.w_gate' beyond")));
}

TEST_F(MoeOperandsTest, Gate) {
  std::get<Gate>(task("l0.f.gate").descriptor).experts = {0};
  EXPECT_THAT(fault("l0.f.gate"), Optional(HasSubstr("1 experts are named for the blocks")));
  program_.tensors[task("l0.f.gate").writes[1].tensor].dtype = DataType::kFp32;
  EXPECT_THAT(fault("l0.f.gate"), Optional(HasSubstr("must be INT32")));
}

TEST_F(MoeOperandsTest, IndicesAreNoValues) {
  program_.tensors[task("l0.f.expert.0").reads[1].tensor].dtype = DataType::kInt32;
  EXPECT_THAT(fault("l0.f.expert.0"), Optional(HasSubstr("is INT32 where values are needed")));
}

TEST_F(MoeOperandsTest, GateWeightsAreMTimesE) {
  task("l0.f.gate").reads[1].num_rows -= 1;
  EXPECT_THAT(fault("l0.f.gate"),
              Optional(HasSubstr("w_gate (1, [0, 3), 2) must have 8 elements")));
  std::get<Gate>(task("l0.f.gate").descriptor).gate = GateKind::kXmoe;
  EXPECT_EQ(fault("l0.f.gate"), std::nullopt);
}

TEST_F(MoeOperandsTest, GateBackward) {
  task("l0.b.gate").writes[0].num_rows -= 1;
  task("l0.b.gate").reads[5].num_rows -= 1;
  EXPECT_THAT(fault("l0.b.gate"), Optional(HasSubstr("must have as many rows")));
}

TEST_F(MoeOperandsTest, OrderAndUnorderKeepTheRowsOfTheBuffer) {
  task("l0.f.order").writes[0].num_rows -= 1;
  EXPECT_THAT(fault("l0.f.order"), Optional(HasSubstr("must be the same blocks and rows")));
  task("l0.b.unorder").writes[1].num_blocks = 1;
  EXPECT_THAT(fault("l0.b.unorder"), Optional(HasSubstr("d_weight")));
}

TEST_F(MoeOperandsTest, ExpertChunkShiftedByARow) {
  // Chunk 0 of 5 rows in two is [0, 2).
  task("l0.b.expert.0").reads[2].first_row += 1;
  EXPECT_THAT(fault("l0.b.expert.0"),
              Optional(HasSubstr("x (4, [0, 2), 4) and hidden (4, [1, 3), 3)")));
}

TEST_F(MoeOperandsTest, ExpertWeights) {
  task("l0.f.expert.0").reads[2].num_rows -= 1;
  // One expert: M * H/2 = 4 * 3.
  EXPECT_THAT(fault("l0.f.expert.0"), Optional(HasSubstr("w2 (1, [0, 2), 4) must have 12")));
  std::get<Expert>(task("l0.f.expert.1").descriptor).experts = {0, 1, 0, 1};
  EXPECT_THAT(fault("l0.f.expert.1"), Optional(HasSubstr("w1 (1, [0, 3), 4) must have 24")));
}

TEST_F(MoeOperandsTest, SwigluKeepsBothHalves) {
  std::get<Expert>(task("l0.f.expert.0").descriptor).swiglu = true;
  task("l0.f.expert.0").reads.push_back(task("l0.f.expert.0").reads[2]);
  EXPECT_THAT(fault("l0.f.expert.0"), Optional(HasSubstr("both halves of SwiGLU")));
}

TEST_F(MoeOperandsTest, ARecomputedExpertMayWriteHiddenAlone) {
  Task& expert = task("l0.f.expert.0");
  expert.writes.erase(expert.writes.begin());
  EXPECT_NE(fault("l0.f.expert.0"), std::nullopt);
  expert.pass = Pass::kRecompute;
  EXPECT_EQ(fault("l0.f.expert.0"), std::nullopt);
}

TEST_F(MoeOperandsTest, ACollectiveKeepsItsChunk) {
  // Reads rows [1, 3) of blocks whose rows [0, 2) it writes: a size that fits, a place that does
  // not.
  task("l0.f.dispatch.0").reads[0].first_row += 1;
  EXPECT_THAT(fault("l0.f.dispatch.0"),
              Optional(HasSubstr("must be the same rows of their blocks")));
}

TEST(CollectiveOperandsTest, TypesAndSides) {
  Program program = fsmoe_program({});
  Task& gather = program.tasks[task_named(program, "l0.f.gather.0")];
  program.tensors[gather.writes[0].tensor].dtype = DataType::kBf16;
  EXPECT_THAT(operand_fault(program, gather), Optional(HasSubstr("are 4 x FP32, rows of")));
  gather.writes.clear();
  EXPECT_THAT(operand_fault(program, gather),
              Optional(HasSubstr("ALL_GATHER must both read and write")));
}

TEST(CollectiveOperandsTest, AllToAllNeedsEqualParts) {
  Program program = fsmoe_program({});
  Task& dispatch = program.tasks[task_named(program, "l0.f.dispatch.0")];
  for (Region* region : {&dispatch.reads[0], &dispatch.writes[0]}) {
    region->num_blocks = 1;
    region->num_rows = 5;  // an odd number for two members
  }
  EXPECT_THAT(operand_fault(program, dispatch), Optional(HasSubstr("an equal part")));
}

TEST(ParmOperandsTest, SliceReplicateAndSum) {
  Program program = parm_s2_program({});
  const auto task = [&](const char* name) -> Task& {
    return program.tasks[task_named(program, name)];
  };
  task("l0.f.slice").writes[0].num_blocks = 1;
  EXPECT_THAT(operand_fault(program, task("l0.f.slice")), Optional(HasSubstr("2 times the rows")));
  std::get<Replicate>(task("l0.f.replicate").descriptor).copies = 3;
  EXPECT_THAT(operand_fault(program, task("l0.f.replicate")),
              Optional(HasSubstr("3 times the rows")));
  task("l0.f.local_sum").reads.push_back(task("l0.f.local_sum").reads[0]);
  EXPECT_THAT(operand_fault(program, task("l0.f.local_sum")),
              Optional(HasSubstr("they come in pairs")));
}

// Causal attention over two chunks of 4 positions: 2 query heads and 1 pair of key and value heads
// of 3 columns: qkv 12 columns, context 6; M = 4; w has (12 + 6) * 4 elements.
class AttentionOperandsTest : public ::testing::Test {
 protected:
  AttentionOperandsTest() {
    x_ = tensor("x", 2, 8, 4);
    qkv_ = tensor("qkv", 2, 8, 12);
    context_ = tensor("context", 2, 8, 6);
    y_ = tensor("y", 2, 8, 4);
    w_ = tensor("w", 1, 18, 4);
    dy_ = tensor("dy", 2, 8, 4);
    d_qkv_ = tensor("d_qkv", 2, 8, 12);
    dx_ = tensor("dx", 2, 8, 4);
    dw_ = tensor("dw", 1, 18, 4);
    program_.num_ranks = 1;
    task_.descriptor = Attention{2, 1, 3, true};
    task_.reads = {rows(x_, 4, 4), rows(qkv_, 0, 4), rows(w_, 0, 18)};
    task_.writes = {rows(qkv_, 4, 4), rows(context_, 4, 4), rows(y_, 4, 4)};
  }
  int tensor(const char* name, int blocks, int num_rows, int columns) {
    program_.tensors.push_back({name, blocks, num_rows, columns, DataType::kFp32, false, 0, {}});
    return static_cast<int>(program_.tensors.size()) - 1;
  }
  Region rows(int tensor, int first, int count) const {
    return {tensor, 0, program_.tensors[tensor].blocks, first, count, kNone};
  }
  std::optional<std::string> fault() const { return operand_fault(program_, task_); }

  Program program_;
  Task task_;
  int x_ = 0;
  int qkv_ = 0;
  int context_ = 0;
  int y_ = 0;
  int w_ = 0;
  int dy_ = 0;
  int d_qkv_ = 0;
  int dx_ = 0;
  int dw_ = 0;
};

TEST_F(AttentionOperandsTest, AChunkReadsTheKeysBeforeIt) {
  EXPECT_EQ(fault(), std::nullopt);
  task_.reads[1].num_rows = 3;
  EXPECT_THAT(fault(), Optional(HasSubstr("must be the rows of qkv before")));
  task_.reads.erase(task_.reads.begin() + 1);
  EXPECT_THAT(fault(), Optional(HasSubstr("its kind needs 3 and 3")));
}

TEST_F(AttentionOperandsTest, WithoutAMaskThereAreNoChunks) {
  std::get<Attention>(task_.descriptor).causal = false;
  EXPECT_THAT(fault(), Optional(HasSubstr("not causal needs every key")));
}

TEST_F(AttentionOperandsTest, HeadsMakeTheColumns) {
  std::get<Attention>(task_.descriptor).kv_heads = 2;
  EXPECT_THAT(fault(), Optional(HasSubstr("qkv (2, [4, 8), 12) must have 18 columns")));
}

TEST_F(AttentionOperandsTest, RecomputedItMayLeaveOutTheOutput) {
  task_.writes.pop_back();
  EXPECT_NE(fault(), std::nullopt);
  task_.pass = Pass::kRecompute;
  EXPECT_EQ(fault(), std::nullopt);
}

TEST_F(AttentionOperandsTest, Backward) {
  task_.pass = Pass::kBackward;
  task_.reads = {
      rows(dy_, 4, 4), rows(x_, 4, 4), rows(qkv_, 0, 8), rows(context_, 4, 4), rows(w_, 0, 18)};
  task_.writes = {rows(d_qkv_, 0, 8), rows(dx_, 4, 4), rows(dw_, 0, 18)};
  EXPECT_EQ(fault(), std::nullopt);
  task_.writes[1].first_row = 3;
  EXPECT_THAT(fault(), Optional(HasSubstr("x (2, [4, 8), 4) and dx (2, [3, 7), 4)")));
  task_.writes[1].first_row = 4;
  task_.reads[2].num_rows = 4;
  task_.writes[0].num_rows = 4;
  EXPECT_THAT(fault(), Optional(HasSubstr("qkv (2, [0, 4), 12) must be the rows [0, 8)")));
}

TEST_F(AttentionOperandsTest, Optimizer) {
  const int state = tensor("state", 1, 18, 8);
  task_.descriptor = Optimizer{OptimizerAlgorithm::kAdam};
  task_.reads = {rows(dw_, 0, 18), rows(w_, 0, 18), rows(state, 0, 18)};
  task_.writes = {rows(w_, 0, 18), rows(state, 0, 18)};
  EXPECT_EQ(fault(), std::nullopt);
  task_.reads[0].num_rows = 17;
  EXPECT_THAT(fault(), Optional(HasSubstr("gradient (1, [0, 17), 4) must have 72 elements")));
  task_.reads.erase(task_.reads.begin());
  EXPECT_THAT(fault(), Optional(HasSubstr("it must read gradients, weights and state")));
}

TEST_F(AttentionOperandsTest, Elementwise) {
  task_.descriptor = Elementwise{ElementwiseOperation::kAdd};
  task_.reads = {rows(x_, 0, 8), rows(y_, 0, 8)};
  task_.writes = {rows(dx_, 0, 8)};
  EXPECT_EQ(fault(), std::nullopt);
  task_.reads[1].num_rows = 7;
  EXPECT_THAT(fault(), Optional(HasSubstr("must have 64 elements")));
}

TEST_F(AttentionOperandsTest, AHostWaitWritesNothing) {
  task_.descriptor = HostWait{};
  EXPECT_THAT(fault(), Optional(std::string("a host_wait writes nothing")));
}

}  // namespace
}  // namespace moesim
