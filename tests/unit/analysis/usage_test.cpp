#include "sim/analysis/usage.h"

#include <numeric>

#include <gmock/gmock.h>

#include "tests/support/hand_program.h"
#include "tests/support/recurrence.h"

namespace moesim {
namespace {

using test::all_to_all;
using test::HandProgram;
using test::ps;
using test::run_recurrence;
using ::testing::ElementsAre;
using ::testing::Pair;

constexpr int kCompute = 0;
constexpr int kInter = 1;
constexpr int kIntra = 2;

// compute: a [0,4)        b [9,10)
// inter:          x [4,9)
// Rank 1 computes twice as long: a [0,8), x waits on rank 0 from 4 to 8 and moves [8,13).
TEST(UsageTest, MeansOverRanks) {
  HandProgram hand(2, {"compute", "inter"});
  const int world = hand.add_group("world", {{0, 1}});
  const int a = hand.add_fixed("a", kCompute, ps(4));
  const int x = hand.add_collective("x", kInter, all_to_all(world), ps(5), {a});
  hand.add_fixed("b", kCompute, ps(1), {x});
  const Trace trace = run_recurrence(hand.program(), hand.durations(), {.rank_scale = {1, 2}});
  const Usage use = usage(hand.program(), trace);
  // compute: rank 0 4 + 1, rank 1 8 + 2: mean 7.5, rounded down to 7. inter: 5 each, without the 4
  // for which rank 0 waits.
  EXPECT_THAT(use.busy, ElementsAre(Pair("compute", ps(7)), Pair("inter", ps(5))));
  EXPECT_EQ(use.straggler_wait, ps(2));         // 4 and 0
  EXPECT_EQ(use.exposed_communication, ps(5));  // nobody computes meanwhile
  EXPECT_EQ(use.computing, ps(7));              // as the stream: 5 and 10
}

TEST(UsageTest, ClassesWeighByTheirSize) {
  HandProgram hand(4, {"compute"});
  hand.add_fixed("a", kCompute, ps(4));
  Trace trace;
  trace.classes = {{0, {0, 1, 2}}, {3, {3}}};
  trace.spans = {{0, 0, ps(0), ps(0), ps(0), ps(4)}, {3, 0, ps(0), ps(0), ps(0), ps(8)}};
  trace.end = ps(8);
  EXPECT_EQ(usage(hand.program(), trace).busy.at("compute"), ps(5));  // (3 * 4 + 8) / 4
}

// compute:        c [3,6)
// inter:    x [0,5)
// intra:    y [0,4)         z [8,10)
// Exposed: [0,3) once, although two collectives move data, and [8,10).
TEST(UsageTest, ExposedMomentsCountOnce) {
  HandProgram hand(1, {"compute", "inter", "intra"});
  const int world = hand.add_group("world", {{0}});
  hand.add_fixed("c", kCompute, ps(3));
  for (const int stream : {kInter, kIntra, kIntra}) {
    hand.add_collective("x", stream, all_to_all(world), ps(1));
  }
  Trace trace;
  trace.classes = {{0, {0}}};
  trace.spans = {{0, 1, ps(0), ps(0), ps(0), ps(5)},
                 {0, 2, ps(0), ps(0), ps(0), ps(4)},
                 {0, 0, ps(0), ps(3), ps(3), ps(6)},
                 {0, 3, ps(0), ps(8), ps(8), ps(10)}};
  trace.end = ps(10);
  EXPECT_EQ(usage(hand.program(), trace).exposed_communication, ps(5));
}

// Rank 0 computes [0,6) and sends [6,8); rank 1 is there from 0 on and computes [2,4) meanwhile.
TEST(UsageTest, AReceiverWaitsForAStageWhereItHasNothingElseToDo) {
  HandProgram hand(2, {"compute", "shift"});
  const int pair = hand.add_group("pp_even", {{0, 1}});
  hand.add_fixed("a", kCompute, ps(6));
  Collective shift;
  shift.operation = CollectiveOperation::kShift;
  shift.group = pair;
  shift.distance = 1;
  const int s = hand.add_collective("s", 1, shift, ps(2));
  Trace trace;
  trace.classes = {{0, {0}}, {1, {1}}};
  trace.spans = {{0, 0, ps(0), ps(0), ps(0), ps(6)},
                 {1, 0, ps(0), ps(2), ps(2), ps(4)},
                 {0, s, ps(0), ps(6), ps(6), ps(8)},
                 {1, s, ps(0), ps(0), ps(6), ps(8)}};
  trace.end = ps(8);
  const Usage use = usage(hand.program(), trace);
  EXPECT_EQ(use.stage_wait, ps(2));        // [0,2) and [4,6) of rank 1, 0 of rank 0
  EXPECT_EQ(use.busy.at("shift"), ps(2));  // [6,8)
  EXPECT_EQ(use.straggler_wait, ps(0));
  EXPECT_EQ(use.exposed_communication, ps(2));
}

TEST(UsageTest, NoStageWaitsWithoutStages) {
  HandProgram hand(1, {"compute"});
  hand.add_fixed("a", kCompute, ps(1));
  EXPECT_EQ(usage(hand.program(), run_recurrence(hand.program(), hand.durations())).stage_wait,
            std::nullopt);
}

// Collectives and computation share a stream here; a collective does not hide itself.
TEST(UsageTest, OnlyComputationHides) {
  HandProgram hand(1, {"all"});
  const int world = hand.add_group("world", {{0}});
  hand.add_fixed("c", 0, ps(3));
  hand.add_collective("x", 0, all_to_all(world), ps(4));
  const Trace trace = run_recurrence(hand.program(), hand.durations());
  EXPECT_EQ(usage(hand.program(), trace).exposed_communication, ps(4));
}

TEST(UsageTest, IdleStreamsAreListedAndHostWaitsAreNoWork) {
  HandProgram hand(1, {"compute", "unused"});
  const int a = hand.add_fixed("a", kCompute, ps(3));
  hand.add_host_wait({a});
  const Trace trace = run_recurrence(hand.program(), hand.durations());
  EXPECT_THAT(usage(hand.program(), trace).busy,
              ElementsAre(Pair("compute", ps(3)), Pair("unused", ps(0))));
}

// A million ranks of ten seconds each are 10^19 ps, more than 2^63; their mean is ten seconds.
TEST(UsageTest, ManyRanksDoNotOverflow) {
  constexpr int kRanks = 1'000'000;
  HandProgram hand(kRanks, {"compute"});
  const Time ten_seconds = Time::from_seconds(10);
  hand.add_fixed("a", kCompute, ten_seconds);
  Trace trace;
  trace.classes = {{0, std::vector<int>(kRanks)}};
  std::iota(trace.classes[0].ranks.begin(), trace.classes[0].ranks.end(), 0);
  trace.spans = {{0, 0, ps(0), ps(0), ps(0), ten_seconds}};
  trace.end = ten_seconds;
  EXPECT_EQ(usage(hand.program(), trace).busy.at("compute"), ten_seconds);
}

}  // namespace
}  // namespace moesim
