// Members that only see their own memory and exchange parcels end with the bytes that MoveRunner
// leaves, for every collective, two groups, parts of buffers, and sums of values whose order shows.
#include "kernels/member_moves.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "kernels/apply_moves.h"
#include "kernels/inputs.h"
#include "tests/support/hand_program.h"

namespace moesim {
namespace {

using namespace test;

constexpr int kNumRanks = 4;

struct Case {
  CollectiveOperation operation;
  int read_rows;
  int written_rows;
};

Program program_of(const Case& one, int group_size) {
  HandProgram hand(kNumRanks, {"s"});
  std::vector<std::vector<int>> members;
  for (int rank = 0; rank < kNumRanks; ++rank) {
    if (rank % group_size == 0) {
      members.emplace_back();
    }
    members.back().push_back(rank);
  }
  Collective collective;
  collective.operation = one.operation;
  collective.group = hand.add_group("group", members);
  collective.distance = 1;
  collective.root = 1;
  const int x = hand.add_tensor("x", one.read_rows * group_size, true);
  const int y = hand.add_tensor("y", one.written_rows * group_size);
  const int task = hand.add_collective("c", 0, collective, ps(1));
  hand.task(task).reads = {rows(hand.program(), x)};
  hand.task(task).writes = {rows(hand.program(), y)};
  return hand.program();
}

TensorStore filled(const Program& program) {
  TensorStore tensors(program);
  fill_inputs(InputData::kReal, tensors);
  for (int rank = 0; rank < kNumRanks; ++rank) {  // replicas would hide who sent what
    for (int row = 0; row < program.tensors[0].rows; ++row) {
      *tensors.values(rank, 0, row) += 0.37F * static_cast<float>(rank);
    }
  }
  return tensors;
}

void run_by_mail(const MovePlan& plan, const std::vector<int>& ranks, TensorStore& tensors) {
  const int size = static_cast<int>(ranks.size());
  std::vector<MemberMoves> members;
  for (int member = 0; member < size; ++member) {
    members.emplace_back(plan, MemberRank{member, ranks[member]}, tensors);
    members.back().clear();
  }
  for (int step = 0; step < static_cast<int>(plan.steps.size()); ++step) {
    std::vector<std::vector<Parcel>> parcels(size, std::vector<Parcel>(size));  // [to][from]
    for (int from = 0; from < size; ++from) {
      const std::vector<Parcel> packed = members[from].pack(step, size);
      for (int to = 0; to < size; ++to) {
        parcels[to][from] = packed[to];
      }
    }
    for (int to = 0; to < size; ++to) {
      for (int from = 0; from < size; ++from) {
        EXPECT_EQ(members[to].incoming(step, size)[from],
                  static_cast<int64_t>(parcels[to][from].size()));
      }
      members[to].unpack(step, parcels[to]);
    }
  }
}

TEST(MemberMovesTest, LeavesTheBytesOfMoveRunner) {
  const std::vector<Case> cases = {{CollectiveOperation::kAllReduce, 5, 5},
                                   {CollectiveOperation::kAllGather, 1, 4},
                                   {CollectiveOperation::kReduceScatter, 4, 1},
                                   {CollectiveOperation::kAllToAll, 3, 3},
                                   {CollectiveOperation::kShift, 2, 2},
                                   {CollectiveOperation::kBroadcast, 2, 2}};
  for (const Case& one : cases) {
    for (const int group_size : {2, 4}) {
      SCOPED_TRACE(std::string(to_string(one.operation)) + " of " + std::to_string(group_size));
      Case scaled = one;
      if (one.read_rows != one.written_rows) {  // rows of the smaller buffer: 1 x group size
        scaled.read_rows = one.read_rows == 1 ? 1 : group_size;
        scaled.written_rows = one.written_rows == 1 ? 1 : group_size;
      }
      const Program program = program_of(scaled, group_size);
      const RowMap map(program);
      TensorStore expected = filled(program);
      TensorStore mailed = filled(program);
      for (const std::vector<int>& members : program.groups[0].members) {
        const MovePlan plan = plan_collective(map, program.tasks[0], members);
        MoveRunner(plan, members, expected).run();
        run_by_mail(plan, members, mailed);
      }
      for (int rank = 0; rank < kNumRanks; ++rank) {
        EXPECT_TRUE(std::ranges::equal(expected.contents(rank, 1), mailed.contents(rank, 1)))
            << rank;
      }
    }
  }
}

}  // namespace
}  // namespace moesim
