// FLOPs, kernels and bytes from regions, against the formulas written out by hand.
#include "sim/program/work.h"

#include <gtest/gtest.h>

#include "sim/base/error.h"
#include "tests/unit/program/example_programs.h"

namespace moesim {
namespace {

class WorkTest : public ::testing::Test {
 protected:
  Region region(int blocks, int num_rows, int columns, int first_row = 0, int tensor_rows = 0) {
    const int rows = tensor_rows == 0 ? num_rows : tensor_rows;
    program_.tensors.push_back({"t", blocks, rows, columns, DataType::kFp32, false, 0, {}});
    return {static_cast<int>(program_.tensors.size()) - 1, 0, blocks, first_row, num_rows, kNone};
  }
  Work work(double valid_share = 1) const { return work_of(program_, task_, valid_share); }

  Program program_;
  Task task_;
};

// 3 blocks of 10 rows, M = 4, H/N_ESP = 6: one GEMM is 2 * 30 * 4 * 6 = 1440 FLOPs.
TEST_F(WorkTest, Expert) {
  task_.descriptor = Expert{{0, 0, 0}, false};
  task_.reads = {region(3, 10, 4), region(1, 6, 4), region(1, 6, 4)};
  task_.writes = {region(3, 10, 4), region(3, 10, 6)};
  EXPECT_EQ(work().flops, 2 * 1440);
  EXPECT_EQ(work().num_gemms, 2);
  EXPECT_EQ(work().memory_bytes, 0);
  EXPECT_EQ(work(0.5).flops, 1440);
  EXPECT_EQ(work(0.5).num_gemms, 2);
  task_.pass = Pass::kRecompute;
  task_.writes.erase(task_.writes.begin());  // hidden alone: still the whole operation
  EXPECT_EQ(work().flops, 2 * 1440);
  EXPECT_EQ(work().num_gemms, 2);
}

// SwiGLU keeps 2 * 6 columns of hidden and has three GEMMs, backward six.
TEST_F(WorkTest, SwigluExpertBackward) {
  task_.descriptor = Expert{{0, 0, 0}, true};
  task_.pass = Pass::kBackward;
  task_.reads = {region(3, 10, 4), region(3, 10, 4), region(3, 10, 12)};
  task_.writes = {region(3, 10, 4)};
  EXPECT_EQ(work().flops, 2 * 3 * 1440);
  EXPECT_EQ(work().num_gemms, 6);
}

// B = 2, L = 8, M = 4, N_MP = 1, so qkv has 12 columns and the context 4: n = 16 rows,
// QKV 2*16*4*12 = 1536, projection 2*16*4*4 = 512, scores and AV 4*16*8*4 = 2048.
TEST_F(WorkTest, FullAttention) {
  task_.descriptor = Attention{2, 2, 2, false};
  task_.reads = {region(2, 8, 4), region(1, 16, 4)};
  task_.writes = {region(2, 8, 12), region(2, 8, 4), region(2, 8, 4)};
  EXPECT_EQ(work().flops, 1536 + 512 + 2048);
  EXPECT_EQ(work().num_gemms, 4);
  // As papers count MACs: 3*B*L*M^2 + 2*B*L^2*M + B*L*M^2 (FSMoE).
  EXPECT_EQ(work().flops, 2 * (3 * 2 * 8 * 16 + 2 * 2 * 64 * 4 + 2 * 8 * 16));
  task_.pass = Pass::kRecompute;
  task_.writes.pop_back();  // the output is not kept
  EXPECT_EQ(work().flops, 1536 + 512 + 2048);
  EXPECT_EQ(work().num_gemms, 4);
}

// Chunks [0,2) and [2,8) see 1 and 5 keys on average: together half of all, L/2 = 4 of each row:
// 4*2*(2*1 + 6*5)*4 = 1024 = 4*16*4*4.
TEST_F(WorkTest, CausalChunksAddUpToHalf) {
  task_.descriptor = Attention{2, 2, 2, true};
  double flops = 0;
  for (const auto& [first, count] : {std::pair{0, 2}, std::pair{2, 6}}) {
    task_.reads = {region(2, count, 4, first, 8)};
    task_.writes = {region(2, count, 12, first, 8),
                    region(2, count, 4, first, 8),
                    region(2, count, 4, first, 8)};
    flops += work().flops;
  }
  EXPECT_EQ(flops, 1536 + 512 + 1024);
}

TEST_F(WorkTest, AttentionBackwardIsTwiceTheForwardPass) {
  task_.descriptor = Attention{2, 2, 2, false};
  task_.pass = Pass::kBackward;
  task_.reads = {
      region(2, 8, 4), region(2, 8, 4), region(2, 8, 12), region(2, 8, 4), region(1, 16, 4)};
  task_.writes = {region(2, 8, 12), region(2, 8, 4), region(1, 16, 4)};
  EXPECT_EQ(work().flops, 2 * (1536 + 512 + 2048));
  EXPECT_EQ(work().num_gemms, 8);
}

// 10 rows, M = 4, E = 3: GEMM 2*10*4*3 = 240; three passes over 10*3 fp32 scores: 360 bytes.
TEST_F(WorkTest, Gates) {
  task_.reads = {region(1, 10, 4), region(1, 4, 3)};
  task_.writes = {region(1, 10, 3), region(3, 7, 1), region(3, 7, 1)};
  for (const GateKind kind : {GateKind::kGshard, GateKind::kSigmoid}) {
    task_.descriptor = Gate{kind, 2, {0, 1, 2}, kNone, false, 1};
    EXPECT_EQ(work().flops, 240);
    EXPECT_EQ(work().num_gemms, 1);
    EXPECT_EQ(work().memory_bytes, 360);
  }
  task_.descriptor = Gate{GateKind::kExpertChoice, 2, {0, 1, 2}, kNone, false, 1};
  EXPECT_EQ(work().flops, 240);
  EXPECT_EQ(work().memory_bytes, 720);
  // d = min(256, M) = 4: 2*10*4*(4 + 3) = 560; five passes of scores and two of 10*4 fp32.
  task_.descriptor = Gate{GateKind::kXmoe, 2, {0, 1, 2}, kNone, false, 1};
  EXPECT_EQ(work().flops, 560);
  EXPECT_EQ(work().num_gemms, 2);
  EXPECT_EQ(work().memory_bytes, 600 + 320);
}

// 5 rows of 4 fp32 read, 5 rows of index, 10 rows written: 80 + 20 + 160 bytes.
TEST_F(WorkTest, MemoryBoundTasksReadAndWrite) {
  task_.reads = {region(1, 5, 4), region(1, 5, 1)};
  task_.writes = {region(2, 5, 4)};
  for (const Descriptor& kind : {Descriptor(Order{{0, 1}}),
                                 Descriptor(Unorder{{0, 1}}),
                                 Descriptor(Slice{0}),
                                 Descriptor(Replicate{0, 2}),
                                 Descriptor(LocalSum{0, 2}),
                                 Descriptor(Elementwise{}),
                                 Descriptor(Optimizer{})}) {
    task_.descriptor = kind;
    EXPECT_EQ(work().memory_bytes, 260) << descriptor_name(kind);
    EXPECT_EQ(work().flops, 0);
    EXPECT_EQ(work().num_gemms, 0);
  }
}

TEST_F(WorkTest, OthersHaveNone) {
  task_.reads = {region(1, 5, 4)};
  task_.writes = {region(1, 5, 4)};
  for (const Descriptor& kind :
       {Descriptor(Fixed{}), Descriptor(Collective{}), Descriptor(HostWait{})}) {
    task_.descriptor = kind;
    EXPECT_EQ(work().memory_bytes, 0) << descriptor_name(kind);
    EXPECT_EQ(work().flops, 0);
  }
  task_.descriptor = Expert{{0}, false};
  EXPECT_THROW(work(), Error);  // no hidden
  task_.reads.clear();
  task_.writes.clear();
  EXPECT_EQ(work().flops, 0);
}

}  // namespace
}  // namespace moesim
