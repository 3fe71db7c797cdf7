// Collectives of 24 bytes without regions: 6 rows of 4 bytes, or parts of them.
#include "kernels/device/byte_exchange.h"

#include <gtest/gtest.h>

#include "tests/support/exchange_runner.h"
#include "tests/support/hand_program.h"

namespace moesim {
namespace {

using namespace test;

constexpr int64_t kBytes = 24;

class ByteExchangeTest : public ::testing::Test {
 protected:
  ByteExchangeTest() : hand_(3, {"s"}) {
    group_ = hand_.add_group("all", {{0, 1, 2}});
    hand_.add_tensor("unused", 1);
  }

  std::vector<ExchangePlan> plans(Collective collective, bool native) {
    collective.group = group_;
    collective.bytes = kBytes;
    const Traffic traffic = traffic_of(hand_.program(), collective, {0, 1, 2});
    std::vector<ExchangePlan> plans;
    for (int member = 0; member < 3; ++member) {
      plans.push_back(
          plan_byte_exchange(collective, traffic, {collective.operation, 3, member, native}));
    }
    TensorStore tensors(hand_.program());
    EXPECT_NO_THROW(run_exchange(plans, {0, 1, 2}, tensors));
    return plans;
  }

  HandProgram hand_;
  int group_ = 0;
};

// Of 6 rows: all of them reduced in place, 2 gathered, 2 kept, 2 for each other, all sent on.
TEST_F(ByteExchangeTest, CallsWhatTheOperationIsCalled) {
  struct Case {
    CollectiveOperation operation;
    ExchangeKind kind;
    int64_t rows;
    int64_t scratch_rows;
  };
  for (const Case& one : {Case{CollectiveOperation::kAllReduce, ExchangeKind::kAllReduce, 6, 6},
                          {CollectiveOperation::kAllGather, ExchangeKind::kAllGather, 2, 2 + 6},
                          {CollectiveOperation::kReduceScatter, ExchangeKind::kReduceScatter, 2, 8},
                          {CollectiveOperation::kAllToAll, ExchangeKind::kAllToAll, 2, 6 + 6},
                          {CollectiveOperation::kBroadcast, ExchangeKind::kBroadcast, 6, 6}}) {
    SCOPED_TRACE(to_string(one.operation));
    const ExchangePlan plan = plans({.operation = one.operation}, true)[1];
    ASSERT_EQ(plan.calls.size(), 1U);
    EXPECT_EQ(plan.calls[0].kind, one.kind);
    EXPECT_EQ(plan.calls[0].rows, one.rows);
    EXPECT_EQ(plan.scratch_rows, one.scratch_rows);
    EXPECT_EQ(plan.pack.size() + plan.unpack.size(), 0U);
  }
}

TEST_F(ByteExchangeTest, AShiftsEndsSendOrReceive) {
  const auto shifted = plans({.operation = CollectiveOperation::kShift, .distance = 1}, false);
  EXPECT_EQ(shifted[0].calls.size(), 1U);
  EXPECT_EQ(shifted[1].calls.size(), 2U);
  EXPECT_EQ(shifted[2].calls.size(), 1U);
  EXPECT_EQ(shifted[1].scratch_rows, 12);
}

// Rank 0 has 1, 2 and 3 tokens for the others' experts, ranks 1 and 2 none: of 24 bytes 4, 8, 12.
TEST_F(ByteExchangeTest, ARoutingMakesPartsUnequal) {
  Program program = hand_.program();
  program.routings.push_back({"r", {{1, 2, 3}, {0, 0, 0}, {0, 0, 0}}});
  Collective collective = all_to_all(group_);
  collective.bytes = kBytes;
  collective.routing = 0;
  const Traffic traffic = traffic_of(program, collective, {0, 1, 2});
  const ExchangePlan plan =
      plan_byte_exchange(collective, traffic, {collective.operation, 3, 0, true});
  ASSERT_EQ(plan.calls.size(), 2U);
  EXPECT_EQ(plan.calls[0].kind, ExchangeKind::kSend);
  EXPECT_EQ(plan.calls[0].from.row, 1);
  EXPECT_EQ(plan.calls[0].rows, 2);
  EXPECT_EQ(plan.calls[1].rows, 3);
}

}  // namespace
}  // namespace moesim
