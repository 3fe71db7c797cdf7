// Which calls of NCCL a member makes, and what it packs: x and y are tensors of one column, 0
// and 1.
#include "kernels/device/exchange_plan.h"

#include <gtest/gtest.h>

#include "tests/support/exchange_runner.h"
#include "tests/support/hand_program.h"

namespace moesim {
namespace {

using namespace test;

constexpr int kX = 0;
constexpr int kY = 1;

std::string to_text(const RowAddress& row) {
  constexpr const char* kNames[] = {"scratch", "x", "y"};
  return std::string(kNames[row.tensor + 1]) + std::to_string(row.row);
}

std::string to_text(const Move& move) {
  return to_text(move.from) + (move.add ? " +> " : " > ") + to_text(move.to) + " x" +
         std::to_string(move.rows);
}

// "x0 > scratch0 x2; ncclAllReduce scratch0 > scratch0 x2; scratch0 > y0 x2"
std::string to_text(const ExchangePlan& plan) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
  for (const Move& move : plan.pack) {
    add(to_text(move));
  }
  for (const ExchangeCall& call : plan.calls) {
    std::string part = to_string(call.kind);
    part += call.kind == ExchangeKind::kReceive ? "" : " " + to_text(call.from);
    part += call.kind == ExchangeKind::kSend ? "" : " > " + to_text(call.to);
    add(part + " x" + std::to_string(call.rows) +
        (call.peer == kNone ? "" : " @" + std::to_string(call.peer)));
  }
  for (const Move& move : plan.unpack) {
    add(to_text(move));
  }
  return text;
}

// A collective of `size` ranks that reads and writes these regions.
struct Case {
  CollectiveOperation operation;
  int size = 2;
  std::vector<Region> reads;
  std::vector<Region> writes;
  int distance = 1;
  bool wrap = false;
  int root = 0;
  bool native_all_to_all = false;
};

class Planned {
 public:
  explicit Planned(const Case& one) : one_(one), hand_(one.size, {"s"}) {
    std::vector<int> members;
    for (int rank = 0; rank < one.size; ++rank) {
      members.push_back(rank);
    }
    Collective collective;
    collective.operation = one.operation;
    collective.group = hand_.add_group("group", {members});
    collective.distance = one.distance;
    collective.wrap = one.wrap;
    collective.root = one.root;
    hand_.add_tensor("x", 12, true);
    hand_.add_tensor("y", 12);
    const int task = hand_.add_collective("c", 0, collective, ps(1));
    hand_.task(task).reads = one.reads;
    hand_.task(task).writes = one.writes;
    const RowMap map(hand_.program());
    moves_ = plan_collective(map, hand_.program().tasks[0], members);
  }

  std::string of_member(int member) const {
    return to_text(
        plan_exchange(moves_, {one_.operation, one_.size, member, one_.native_all_to_all}));
  }

 private:
  Case one_;
  HandProgram hand_;
  MovePlan moves_;
};

TEST(ExchangePlanTest, WholeRegionsNeedNoPacking) {
  using enum CollectiveOperation;
  const Region x4 = rows(kX, 0, 4);
  const Region x2 = rows(kX, 0, 2);
  const Region y4 = rows(kY, 4, 4);
  const Region y2 = rows(kY, 4, 2);
  EXPECT_EQ(Planned({kAllReduce, 2, {x4}, {y4}}).of_member(1), "ncclAllReduce x0 > y4 x4");
  EXPECT_EQ(Planned({kAllReduce, 2, {x4}, {x4}}).of_member(1), "ncclAllReduce x0 > x0 x4");
  EXPECT_EQ(Planned({kAllGather, 2, {x2}, {y4}}).of_member(1), "ncclAllGather x0 > y4 x2");
  EXPECT_EQ(Planned({kReduceScatter, 2, {x4}, {y2}}).of_member(1), "ncclReduceScatter x0 > y4 x2");
  EXPECT_EQ(
      Planned({.operation = kBroadcast, .reads = {x4}, .writes = {y4}, .root = 1}).of_member(1),
      "ncclBroadcast x0 > y4 x4 @1");
  EXPECT_EQ(
      Planned({.operation = kBroadcast, .reads = {x4}, .writes = {y4}, .root = 1}).of_member(0),
      "ncclBroadcast y4 > y4 x4 @1");
  EXPECT_EQ(
      Planned({.operation = kAllToAll, .reads = {x4}, .writes = {y4}, .native_all_to_all = true})
          .of_member(1),
      "ncclAlltoAll x0 > y4 x2");
}

// Rows 0, 1 and 6, 7 of a buffer are in two pieces. What is packed to be reduced stays where it is.
TEST(ExchangePlanTest, PiecesArePacked) {
  using enum CollectiveOperation;
  const std::vector<Region> x = {rows(kX, 0, 2), rows(kX, 6, 2)};
  const std::vector<Region> y = {rows(kY, 0, 2), rows(kY, 6, 2)};
  EXPECT_EQ(Planned({kAllReduce, 2, x, y}).of_member(0),
            "x0 > scratch0 x2; x6 > scratch2 x2; ncclAllReduce scratch0 > scratch0 x4; "
            "scratch0 > y0 x2; scratch2 > y6 x2");
  EXPECT_EQ(Planned({kAllReduce, 2, {rows(kX, 0, 4)}, y}).of_member(0),
            "ncclAllReduce x0 > scratch0 x4; scratch0 > y0 x2; scratch2 > y6 x2");
  EXPECT_EQ(Planned({kReduceScatter, 2, x, {rows(kY, 0, 2)}}).of_member(0),
            "x0 > scratch0 x2; x6 > scratch2 x2; ncclReduceScatter scratch0 > y0 x2");
  EXPECT_EQ(Planned({kAllGather, 2, {rows(kX, 0, 2)}, y}).of_member(0),
            "ncclAllGather x0 > scratch0 x2; scratch0 > y0 x2; scratch2 > y6 x2");
}

// Each member's part is one piece: only the native call has to pack them.
TEST(ExchangePlanTest, AllToAllBySendsTakesPartsFromWhereTheyAre) {
  Case one{.operation = CollectiveOperation::kAllToAll,
           .reads = {rows(kX, 0, 2), rows(kX, 6, 2)},
           .writes = {rows(kY, 0, 2), rows(kY, 6, 2)}};
  EXPECT_EQ(Planned(one).of_member(0), "ncclSend x6 x2 @1; ncclRecv > y6 x2 @1; x0 > y0 x2");
  EXPECT_EQ(Planned(one).of_member(1), "ncclSend x0 x2 @0; ncclRecv > y0 x2 @0; x6 > y6 x2");
  one.native_all_to_all = true;
  EXPECT_EQ(Planned(one).of_member(0),
            "x0 > scratch0 x2; x6 > scratch2 x2; ncclAlltoAll scratch0 > scratch4 x2; "
            "scratch4 > y0 x2; scratch6 > y6 x2");
}

// Without wrap the last of three only receives and the first only sends; with it, all do both; a
// distance of the whole circle sends nothing.
TEST(ExchangePlanTest, Shifts) {
  Case one{.operation = CollectiveOperation::kShift,
           .size = 3,
           .reads = {rows(kX, 0, 2)},
           .writes = {rows(kY, 0, 2)}};
  EXPECT_EQ(Planned(one).of_member(0), "ncclSend x0 x2 @1");
  EXPECT_EQ(Planned(one).of_member(1), "ncclSend x0 x2 @2; ncclRecv > y0 x2 @0");
  EXPECT_EQ(Planned(one).of_member(2), "ncclRecv > y0 x2 @1");
  one.wrap = true;
  EXPECT_EQ(Planned(one).of_member(2), "ncclSend x0 x2 @0; ncclRecv > y0 x2 @1");
  one.distance = -2;
  EXPECT_EQ(Planned(one).of_member(2), "ncclSend x0 x2 @0; ncclRecv > y0 x2 @1");
  one.distance = 3;
  EXPECT_EQ(Planned(one).of_member(2), "x0 > y0 x2");
}

// Member 0 has 1 row for itself and 2 for member 1; member 1 has 1 and 2 likewise.
MovePlan unequal(bool add) {
  MovePlan plan;
  plan.columns = 1;
  plan.steps = {{{{0, kX, 0}, {0, kY, 0}, 1, false},
                 {{1, kX, 0}, {0, kY, add ? 0 : 1}, 1, add},
                 {{0, kX, 1}, {1, kY, 0}, 2, false},
                 {{1, kX, 1}, {1, kY, add ? 0 : 2}, 2, add}}};
  return plan;
}

// Nothing is padded, and sums come in group order wherever the own rows stand in it.
TEST(ExchangePlanTest, UnequalPartsGoByMail) {
  const ExchangeRequest gather{CollectiveOperation::kAllToAll, 2, 1, true};
  EXPECT_EQ(to_text(plan_exchange(unequal(false), gather)),
            "ncclSend x0 x1 @0; ncclRecv > y0 x2 @0; x1 > y2 x2");
  const ExchangeRequest reduce{CollectiveOperation::kReduceScatter, 2, 1, false};
  EXPECT_EQ(to_text(plan_exchange(unequal(true), reduce)),
            "ncclSend x0 x1 @0; ncclRecv > scratch0 x2 @0; scratch0 > y0 x2; x1 +> y0 x2");
}

TEST(ExchangePlanTest, NothingToMoveIsNoCall) {
  EXPECT_EQ(to_text(plan_exchange({}, {CollectiveOperation::kAllReduce, 2, 0, false})), "");
  MovePlan empty;
  empty.steps.resize(1);
  for (const auto operation : {CollectiveOperation::kAllReduce,
                               CollectiveOperation::kAllGather,
                               CollectiveOperation::kReduceScatter,
                               CollectiveOperation::kAllToAll,
                               CollectiveOperation::kShift,
                               CollectiveOperation::kBroadcast}) {
    EXPECT_EQ(to_text(plan_exchange(empty, {operation, 2, 1, true})), "") << to_string(operation);
  }
}

// The interpreter that other tests rely on sees members that do not fit each other.
TEST(ExchangePlanTest, TheInterpreterSeesWhatDoesNotFit) {
  HandProgram hand(2, {"s"});
  hand.add_tensor("x", 4, true);
  hand.add_tensor("y", 4);
  TensorStore tensors(hand.program());
  const auto part = [](int member) {
    return plan_exchange(unequal(false), {CollectiveOperation::kAllToAll, 2, member, false});
  };
  std::vector<ExchangePlan> plans = {part(0), part(1)};
  EXPECT_NO_THROW(run_exchange(plans, {0, 1}, tensors));
  plans[0].calls[0].rows = 1;
  EXPECT_THROW(run_exchange(plans, {0, 1}, tensors), std::logic_error);
  plans = {part(0), {}};
  EXPECT_THROW(run_exchange(plans, {0, 1}, tensors), std::logic_error);
  plans = {part(0), part(1)};
  plans[1].calls.erase(plans[1].calls.begin() + 1);
  EXPECT_THROW(run_exchange(plans, {0, 1}, tensors), std::logic_error);
}

}  // namespace
}  // namespace moesim
