// Token counts followed by hand through the design's appendix programs.
#include "sim/program/valid_rows.h"

#include <gmock/gmock.h>

#include "sim/base/error.h"
#include "sim/program/gate_counts.h"
#include "sim/program/row_source.h"
#include "tests/unit/program/example_programs.h"

namespace moesim {
namespace {

using ::testing::ElementsAre;
using testing::ExampleSizes;
using testing::fsmoe_program;
using testing::parm_s2_program;
using testing::task_named;

int tensor_named(const Program& program, const std::string& name) {
  for (int tensor = 0; tensor < static_cast<int>(program.tensors.size()); ++tensor) {
    if (program.tensors[tensor].name == name) {
      return tensor;
    }
  }
  return kNone;
}

// Valid rows of each block of a tensor on a rank.
std::vector<int64_t> blocks(const Program& program, const std::string& name, int rank) {
  const ValidRows valid_rows(program);
  const int tensor = tensor_named(program, name);
  const Tensor& whole = program.tensors.at(tensor);
  std::vector<int64_t> result;
  for (int block = 0; block < whole.blocks; ++block) {
    result.push_back(valid_rows.valid_rows({tensor, block, 1, 0, whole.rows, kNone}, rank));
  }
  return result;
}

ExampleSizes fsmoe_sizes() {
  ExampleSizes sizes;
  sizes.rows_per_expert = 4;  // the largest count
  sizes.forward_degree = 2;
  sizes.routing = {{4, 0}, {3, 1}, {2, 2}, {1, 3}};
  return sizes;
}

TEST(ValidRowsTest, ACapacityFillsEveryBuffer) {
  const Program program = fsmoe_program({});
  const ValidRows valid_rows(program);
  EXPECT_TRUE(valid_rows.all_full());
  EXPECT_EQ(valid_rows.valid_rows({0, 0, 1, 2, 3, kNone}, 0), 3);
  const Task& dispatch = program.tasks[task_named(program, "l0.f.dispatch.0")];
  EXPECT_EQ(valid_rows.sent_rows(dispatch, {0, 2}, 0)[1], 5);  // half of 2 blocks of 5 rows
}

TEST(ValidRowsTest, FollowsFsmoe) {
  const Program program = fsmoe_program(fsmoe_sizes());
  EXPECT_FALSE(ValidRows(program).all_full());
  EXPECT_THAT(blocks(program, "l0.disp", 1), ElementsAre(3, 1));
  // ep = {0,2},{1,3}: member j receives block j of each member, by source.
  EXPECT_THAT(blocks(program, "l0.recv", 0), ElementsAre(4, 2));
  EXPECT_THAT(blocks(program, "l0.recv", 1), ElementsAre(3, 1));
  EXPECT_THAT(blocks(program, "l0.recv", 2), ElementsAre(0, 2));
  // esp = {0,1},{2,3} gathers recv of both.
  EXPECT_THAT(blocks(program, "l0.gath", 1), ElementsAre(4, 2, 3, 1));
  EXPECT_THAT(blocks(program, "l0.hid", 2), ElementsAre(0, 2, 1, 3));
  EXPECT_THAT(blocks(program, "l0.red", 1), ElementsAre(3, 1));
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(blocks(program, "l0.comb", rank), blocks(program, "l0.disp", rank));
    EXPECT_EQ(blocks(program, "l0.d_comb", rank), blocks(program, "l0.disp", rank));
    EXPECT_EQ(blocks(program, "l0.d_gath", rank), blocks(program, "l0.gath", rank));
    EXPECT_EQ(blocks(program, "l0.d_disp", rank), blocks(program, "l0.disp", rank));
  }
  EXPECT_THAT(blocks(program, "l0.y", 0), ElementsAre(4));  // tokens: full
}

// A block with n of 4 valid rows gives floor(2n/4) to rows [0,2) and the rest to [2,4).
TEST(ValidRowsTest, ChunksShareABlocksRows) {
  const Program program = fsmoe_program(fsmoe_sizes());
  const ValidRows valid_rows(program);
  const int gathered = tensor_named(program, "l0.gath");  // 4, 2, 3, 1 on rank 0
  EXPECT_EQ(valid_rows.valid_rows({gathered, 0, 4, 0, 2, kNone}, 0), 2 + 1 + 1 + 0);
  EXPECT_EQ(valid_rows.valid_rows({gathered, 0, 4, 2, 2, kNone}, 0), 2 + 1 + 2 + 1);
}

TEST(ValidRowsTest, SentRowsAreThoseOfTheDestinationsBlocks) {
  const Program program = fsmoe_program(fsmoe_sizes());
  const ValidRows valid_rows(program);
  const Task& dispatch = program.tasks[task_named(program, "l0.f.dispatch.1")];  // rows [2,4)
  const std::vector<int> members = {1, 3};
  // Rank 1 has 3 and 1 tokens, rank 3 has 1 and 3; floor(4n/4) - floor(2n/4).
  EXPECT_EQ(valid_rows.sent_rows(dispatch, members, 0)[0], 2);
  EXPECT_EQ(valid_rows.sent_rows(dispatch, members, 0)[1], 1);
  EXPECT_EQ(valid_rows.sent_rows(dispatch, members, 1)[0], 1);
  EXPECT_EQ(valid_rows.sent_rows(dispatch, members, 1)[1], 2);
}

TEST(ValidRowsTest, LayersAreAlike) {
  ExampleSizes sizes = fsmoe_sizes();
  sizes.layers = 3;
  const Program program = fsmoe_program(sizes);
  EXPECT_EQ(blocks(program, "l2.gath", 3), blocks(program, "l0.gath", 3));
}

// Experts [0,1,0,1]: an expert's tokens spread evenly over its two blocks of h = 2 rows.
TEST(ValidRowsTest, FollowsParmS2) {
  ExampleSizes sizes;
  sizes.rows_per_expert = 2;
  sizes.routing = {{3, 2}, {3, 2}, {1, 4}, {1, 4}};
  const Program program = parm_s2_program(sizes);
  EXPECT_THAT(blocks(program, "l0.buf", 0), ElementsAre(1, 1, 2, 1));
  EXPECT_THAT(blocks(program, "l0.buf", 3), ElementsAre(0, 2, 1, 2));
  // Member j of mp keeps blocks 2j and 2j+1; each ep member's block is sent twice.
  EXPECT_THAT(blocks(program, "l0.part", 1), ElementsAre(2, 1));
  EXPECT_THAT(blocks(program, "l0.copies", 1), ElementsAre(2, 2, 1, 1));
  EXPECT_THAT(blocks(program, "l0.copies", 2), ElementsAre(0, 0, 2, 2));
  // Block i of rc on rank q is block q of copies on rank i.
  EXPECT_THAT(blocks(program, "l0.rc", 0), ElementsAre(1, 2, 0, 1));
  EXPECT_THAT(blocks(program, "l0.rc", 3), ElementsAre(1, 1, 2, 2));
  // The shifts bring back what was sent, and mp gathers both members' parts.
  EXPECT_THAT(blocks(program, "l0.back", 1), ElementsAre(2, 2, 1, 1));
  EXPECT_THAT(blocks(program, "l0.ga", 0), ElementsAre(1, 1, 1, 1, 2, 2, 1, 1));
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(blocks(program, "l0.full", rank), blocks(program, "l0.buf", rank));
  }
}

// Relative regions mean the rank's own blocks: eo relative +1 is block rank+1 of 4.
TEST(ValidRowsTest, RelativeRegions) {
  ExampleSizes sizes;
  sizes.rows_per_expert = 2;
  sizes.routing = {{3, 2}, {3, 2}, {1, 4}, {1, 4}};
  const Program program = parm_s2_program(sizes);
  const ValidRows valid_rows(program);
  const Region& read = program.tasks[task_named(program, "l0.f.shift.1")].reads[0];
  EXPECT_EQ(valid_rows.valid_rows(read, 0), 2);  // block 1 of 1, 2, 0, 1
  EXPECT_EQ(valid_rows.valid_rows(read, 3), 1);  // block 0 of 1, 1, 2, 2
}

class GateCountsTest : public ::testing::Test {
 protected:
  GateCountsTest() {
    program_.num_ranks = 2;
    program_.groups = {{"esp", {{0, 1}}}};
    program_.routings = {{"routing", {{5, 0}, {2, 3}}}};
    groups_.update(program_);
  }
  std::vector<int> counts(std::vector<int> experts, int domains, int nominal_rows = 100) const {
    const Gate gate{GateKind::kGshard, 1, std::move(experts), 0, true, domains};
    return gate_counts(program_, groups_, gate, nominal_rows, 0).counts[1];
  }

  Program program_;
  GroupTable groups_;
};

// Two gathered copies, each a domain of its own: domain d is what member d routes.
TEST_F(GateCountsTest, Domains) {
  EXPECT_THAT(counts({0, 1}, 2), ElementsAre(5 + 2, 0 + 3));
  EXPECT_THAT(counts({0, 0, 1, 1}, 2), ElementsAre(5, 2, 0, 3));
  EXPECT_THAT(counts({0, 0, 0, 0, 1, 1, 1, 1}, 2), ElementsAre(2, 3, 1, 1, 0, 0, 1, 2));
  EXPECT_THAT(counts({0, 1}, 2, 6), ElementsAre(6, 3));  // no more than a block holds
}

TEST_F(GateCountsTest, AnExpertThatTheRoutingLacks) {
  EXPECT_THROW(counts({0, 2}, 1), Error);
}

// A Program that was not verified may have fewer blocks than the group has members.
TEST(RowSourceTest, RunsOfNoBlocksHaveNoSource) {
  Program program;
  program.num_ranks = 2;
  program.groups = {{"pair", {{0, 1}}}};
  GroupTable groups;
  groups.update(program);
  const OutputBlock one_of_one{.rank = 0, .position = 0, .num_in = 1, .num_out = 1};
  EXPECT_FALSE(row_source(program, groups, Replicate{.group = 0, .copies = 1}, one_of_one));
  EXPECT_FALSE(row_source(program, groups, LocalSum{.group = 0, .copies = 1}, one_of_one));
}

}  // namespace
}  // namespace moesim
