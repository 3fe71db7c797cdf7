// Collectives in the machine: who waits for whom, and how they share ports. Every port moves one
// byte per picosecond and start-up times are zero unless a test says otherwise.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/error.h"
#include "sim/engine/simulate.h"
#include "tests/unit/engine/program_maker.h"

namespace moesim {
namespace {

using testing::HasSubstr;

constexpr auto kAllGather = CollectiveOperation::kAllGather;
constexpr auto kAllReduce = CollectiveOperation::kAllReduce;

class CollectivesTest : public testing::TestWithParam<Resolution> {
 protected:
  // Two nodes of two GPUs: node group {0,1}, {2,3}; fabric group {0,2}, {1,3}.
  CollectivesTest() {
    node_ = maker_.group("node", {{0, 1}, {2, 3}});
    fabric_ = maker_.group("fabric", {{0, 2}, {1, 3}});
    profile_.collectives = {make_cost(kAllGather, Span::kNode, 0, 1),
                            make_cost(kAllGather, Span::kFabric, 0, 1),
                            make_cost(kAllReduce, Span::kNode, 100, 2),
                            make_cost(kAllReduce, Span::kFabric, 0, 1)};
    options_.resolution = GetParam();
  }

  int gather(const std::string& stream,
             int group,
             std::int64_t bytes,
             std::vector<int> waits = {}) {
    return maker_.collective(
        stream, {.operation = kAllGather, .group = group, .bytes = bytes}, std::move(waits));
  }

  Trace run() { return simulate(maker_.program(), &cluster_, &profile_, options_); }

  // The span on the representative of the rank's class.
  static TaskSpan span_of_task(const Trace& trace, int task, int rank = 0) {
    for (const RankClass& rank_class : trace.classes) {
      for (const int member : rank_class.ranks) {
        rank = member == rank ? rank_class.representative : rank;
      }
    }
    for (const TaskSpan& span : trace.spans) {
      if (span.task == task && span.rank == rank) {
        return span;
      }
    }
    throw Error("no such span");
  }

  ProgramMaker maker_{4};
  Cluster cluster_ = make_cluster(2, 2);
  Profile profile_;
  SimulationOptions options_;
  int node_ = kNone;
  int fabric_ = kNone;
};

TEST_P(CollectivesTest, AloneTakesStartupPlusLoad) {
  // 100 + 2 * 50
  const int task = maker_.collective("a", {.operation = kAllReduce, .group = node_, .bytes = 50});
  const Trace trace = run();
  EXPECT_EQ(span_of_task(trace, task).start, ps(0));
  EXPECT_EQ(span_of_task(trace, task).transfer, ps(0));
  EXPECT_EQ(trace.end, ps(200));
}

TEST_P(CollectivesTest, TwoOnOnePortTakeTwiceAsLong) {
  gather("a", node_, 500);
  gather("b", node_, 500);
  EXPECT_EQ(run().end, ps(1000));
}

TEST_P(CollectivesTest, OnDifferentPortsTheyDoNotSlowEachOther) {
  const int a = gather("a", node_, 500);
  const int b = gather("b", fabric_, 400);
  const Trace trace = run();
  EXPECT_EQ(span_of_task(trace, a).end, ps(500));
  EXPECT_EQ(span_of_task(trace, b).end, ps(400));
}

TEST_P(CollectivesTest, WithoutPortSharingTheyNeverSlowEachOther) {
  options_.effects.port_sharing = false;
  gather("a", node_, 500);
  gather("b", node_, 500);
  EXPECT_EQ(run().end, ps(500));
}

TEST_P(CollectivesTest, WeightsDecideTheShares) {
  // As in PortQueueTest.WeightsOneToThree: 400 and 600.
  profile_.collectives[0].weight = 1;
  profile_.collectives[2] = make_cost(kAllReduce, Span::kNode, 0, 1);
  profile_.collectives[2].weight = 3;
  const int light = gather("a", node_, 300);
  const int heavy = maker_.collective("b", {.operation = kAllReduce, .group = node_, .bytes = 300});
  const Trace trace = run();
  EXPECT_EQ(span_of_task(trace, heavy).end, ps(400));
  EXPECT_EQ(span_of_task(trace, light).end, ps(600));
}

TEST_P(CollectivesTest, StartupIsPaidOffThePort) {
  // The all-reduce's start-up of 100 leaves the port to the gather (load 100): neither is slowed.
  const int a = gather("a", node_, 100);
  const int b = maker_.collective("b", {.operation = kAllReduce, .group = node_, .bytes = 50});
  const Trace trace = run();
  EXPECT_EQ(span_of_task(trace, a).end, ps(100));
  EXPECT_EQ(span_of_task(trace, b).end, ps(200));
}

TEST_P(CollectivesTest, StaggeredSharing) {
  // As in PortQueueTest.StaggeredArrival: 1400 and 2000.
  const int a = gather("a", node_, 1000);
  const int before = maker_.fixed("compute", 600);
  const int b = gather("b", node_, 1000, {before});
  const Trace trace = run();
  EXPECT_EQ(span_of_task(trace, a).end, ps(1400));
  EXPECT_EQ(span_of_task(trace, b).end, ps(2000));
}

TEST_P(CollectivesTest, WaitsForTheLastMemberAndEndsForAll) {
  // Rank 1 comes at 30, three times as late as rank 0.
  maker_.program().rank_scale = {1, 3, 1, 3};
  const int before = maker_.fixed("compute", 10);
  const int task = gather("a", node_, 50, {before});
  const Trace trace = run();
  EXPECT_EQ(span_of_task(trace, task, 0).start, ps(10));
  EXPECT_EQ(span_of_task(trace, task, 0).transfer, ps(30));
  EXPECT_EQ(span_of_task(trace, task, 0).end, ps(80));
  EXPECT_EQ(span_of_task(trace, task, 1).start, ps(30));
  EXPECT_EQ(span_of_task(trace, task, 1).end, ps(80));
}

TEST_P(CollectivesTest, SlownessSpreadsThroughGroups) {
  // Rank 0 is late by 40: the node {0,1} ends at 40 + 10, so the fabric groups of both of its ranks
  // begin at 50, and ranks 2 and 3 end with them.
  maker_.program().rank_scale = {4, 0, 0, 0};
  const int before = maker_.fixed("compute", 10);
  const int inside = gather("a", node_, 10, {before});
  const int across = gather("b", fabric_, 5, {inside});
  const Trace trace = run();
  EXPECT_EQ(span_of_task(trace, inside, 1).end, ps(50));
  EXPECT_EQ(span_of_task(trace, inside, 3).end, ps(10));
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(span_of_task(trace, across, rank).end, ps(55));
  }
}

TEST_P(CollectivesTest, RanksOutsideTheGroupPassByInOrder) {
  const int pair = maker_.group("pair", {{0, 1}});
  const int before = maker_.fixed("a", 7);
  const int task = gather("a", pair, 100);
  const int after = maker_.fixed("a", 1);
  const Trace trace = run();
  EXPECT_EQ(span_of_task(trace, before, 2).end, ps(7));
  EXPECT_EQ(span_of_task(trace, task, 2).start, ps(7));
  EXPECT_EQ(span_of_task(trace, task, 2).end, ps(7));
  EXPECT_EQ(span_of_task(trace, after, 2).end, ps(8));
  EXPECT_EQ(span_of_task(trace, after, 0).end, ps(108));
}

TEST_P(CollectivesTest, PassingByCostsNoLaunch) {
  profile_.launch_overhead_seconds = 5e-12;
  const int pair = maker_.group("pair", {{0, 1}});
  gather("a", pair, 100);
  const int after = maker_.fixed("b", 1);
  const Trace trace = run();
  EXPECT_EQ(span_of_task(trace, after, 0).launched, ps(10));
  EXPECT_EQ(span_of_task(trace, after, 2).launched, ps(5));
}

TEST_P(CollectivesTest, ACollectiveOfOneRankIsNotLaunched) {
  profile_.launch_overhead_seconds = 5e-12;
  gather("a", maker_.group("alone", {{0}, {1}, {2}, {3}}), 100);
  const int after = maker_.fixed("a", 1);
  EXPECT_EQ(span_of_task(run(), after).launched, ps(5));
}

TEST_P(CollectivesTest, AGroupOfOneAndNoBytesTakeNoTime) {
  const int alone = maker_.group("alone", {{0}, {1}, {2}, {3}});
  gather("a", alone, 100);
  gather("a", node_, 0);
  EXPECT_EQ(run().end, ps(0));
}

TEST_P(CollectivesTest, RolesMatchByTheirPlaceOnTheCommunicator) {
  // Rank 0 and 2 issue tasks of their own role, 1 and 3 of theirs; the second collective of one
  // meets the second of the other. Rank 0 is there at 0, rank 1 at 20.
  const int first = maker_.role("first", {0, 2});
  const int second = maker_.role("second", {1, 3});
  std::vector<int> tasks;
  for (int i = 0; i < 2; ++i) {
    tasks.push_back(gather("a", node_, 10));
    maker_.task(tasks.back()).roles = {first};
  }
  for (int i = 0; i < 2; ++i) {
    const int before = maker_.fixed("compute", 20);
    maker_.task(before).roles = {second};
    tasks.push_back(gather("a", node_, 10, {before}));
    maker_.task(tasks.back()).roles = {second};
  }
  // First meeting: 20 to 30. Second: rank 1 is there at 40, ends at 50.
  const Trace trace = run();
  EXPECT_EQ(span_of_task(trace, tasks[0], 0).end, ps(30));
  EXPECT_EQ(span_of_task(trace, tasks[2], 1).end, ps(30));
  EXPECT_EQ(span_of_task(trace, tasks[1], 0).end, ps(50));
  EXPECT_EQ(span_of_task(trace, tasks[3], 1).end, ps(50));
}

TEST_P(CollectivesTest, MissingMemberIsADeadlockThatIsNamed) {
  const int first = maker_.role("first", {0, 2});
  const int task = gather("a", node_, 10);
  maker_.task(task).name = "lonely";
  maker_.task(task).roles = {first};
  try {
    run();
    FAIL() << "no Error";
  } catch (const Error& error) {
    EXPECT_THAT(error.text(), HasSubstr("deadlock"));
    EXPECT_THAT(error.text(), HasSubstr("'lonely' on rank 0 waits for rank 1"));
  }
}

TEST_P(CollectivesTest, OppositeOrderIsADeadlock) {
  // On rank 0 stream a's collective comes before stream b's; on rank 1 the other way round.
  const int first = maker_.role("first", {0, 2});
  const int second = maker_.role("second", {1, 3});
  const int a0 = gather("a", node_, 10);
  const int b0 = gather("b", node_, 10, {a0});
  const int b1 = gather("b", node_, 10);
  const int a1 = gather("a", node_, 10, {b1});
  maker_.task(a0).roles = maker_.task(b0).roles = {first};
  maker_.task(a1).roles = maker_.task(b1).roles = {second};
  try {
    run();
    FAIL() << "no Error";
  } catch (const Error& error) {
    EXPECT_THAT(error.text(), HasSubstr("'t0' on rank 0 waits for rank 1"));
    EXPECT_THAT(error.text(), HasSubstr("'t2' on rank 1 waits for rank 0"));
  }
  // And the next simulation works.
  maker_.program().tasks.clear();
  gather("a", node_, 10);
  EXPECT_EQ(run().end, ps(10));
}

INSTANTIATE_TEST_SUITE_P(Resolutions,
                         CollectivesTest,
                         testing::Values(Resolution::kFold, Resolution::kPorts, Resolution::kFlows),
                         [](const auto& test) { return std::string(name(test.param)); });

TEST(SimulateTest, CollectiveNeedsClusterAndProfile) {
  ProgramMaker maker(2);
  const int both = maker.group("both", {{0, 1}});
  maker.collective("a", {.operation = kAllGather, .group = both, .bytes = 1});
  const Cluster cluster = make_cluster(1, 2);
  EXPECT_THROW(simulate(maker.program(), nullptr, nullptr), Error);
  EXPECT_THROW(simulate(maker.program(), &cluster, nullptr), Error);
}

TEST(SimulateTest, ProgramMustFitTheCluster) {
  ProgramMaker maker(4);
  maker.fixed("a", 1);
  const Cluster cluster = make_cluster(1, 2);
  EXPECT_THROW(simulate(maker.program(), &cluster, nullptr), Error);
}

TEST(TaskDurationsTest, CollectivesAloneAndFixedTimes) {
  // All-reduce: 100 + 2 * 50. Nobody shares: the durations do not know of each other.
  ProgramMaker maker(2);
  const int both = maker.group("both", {{0, 1}});
  const int alone = maker.group("alone", {{0}, {1}});
  maker.collective("a", {.operation = kAllReduce, .group = both, .bytes = 50});
  maker.collective("b", {.operation = kAllReduce, .group = both, .bytes = 50});
  maker.collective("b", {.operation = kAllReduce, .group = alone, .bytes = 50});
  maker.host_wait({0});
  maker.fixed("c", 10);
  maker.program().rank_scale = {2, 1};
  Profile profile;
  profile.collectives = {make_cost(kAllReduce, Span::kNode, 100, 2)};
  const Cluster cluster = make_cluster(1, 2);
  const std::vector<Time> expected = {ps(200), ps(200), ps(0), ps(0), ps(20)};
  EXPECT_EQ(task_durations(maker.program(), &cluster, &profile), expected);
}

TEST(TaskDurationsTest, FirstRankThatHasAPart) {
  ProgramMaker maker(3);
  const int role = maker.role("last", {2});
  const int pair = maker.group("pair", {{1, 2}});
  maker.task(maker.fixed("c", 10)).roles = {role};
  maker.collective("a", {.operation = kAllReduce, .group = pair, .bytes = 5});
  maker.program().rank_scale = {1, 2, 3};
  Profile profile;
  profile.collectives = {make_cost(kAllReduce, Span::kNode, 0, 1)};
  const Cluster cluster = make_cluster(1, 3);
  const std::vector<Time> expected = {ps(30), ps(5)};
  EXPECT_EQ(task_durations(maker.program(), &cluster, &profile), expected);
}

}  // namespace
}  // namespace moesim
