#include "sim/report/bottleneck.h"

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

Task compute_task(const std::string& kind, const Descriptor& descriptor) {
  Task task;
  task.kind = kind;
  task.stream = 0;
  task.descriptor = descriptor;
  return task;
}

// One after the other on four ranks of two nodes: dispatch 40, expert 20, gate 5, combine 30,
// gather 5: 100 in all.
class BottleneckTest : public ::testing::Test {
 protected:
  BottleneckTest() {
    const int ep = hand_.add_group("ep", {{0, 2}, {1, 3}});
    const int esp = hand_.add_group("esp", {{0, 1}, {2, 3}});
    Collective gather = all_to_all(esp);
    gather.operation = CollectiveOperation::kAllGather;
    int last = hand_.add_collective("dispatch", 1, all_to_all(ep), ps(40));
    Task expert = compute_task("expert", Expert{});
    expert.waits = {last};
    last = hand_.add(expert, ps(20));
    last = hand_.add(compute_task("gate", Gate{}), ps(5));
    last = hand_.add_collective("combine", 1, all_to_all(ep), ps(30), {last});
    hand_.add_collective("esp_gather", 2, gather, ps(5), {last});
    trace_ = test::folded(run_recurrence(hand_.program(), hand_.durations()));
    path_ = critical_path(hand_.program(), trace_, 32);
    cluster_.num_nodes = 2;
    cluster_.gpus_per_node = 2;
  }

  HandProgram hand_{4, {"compute", "inter", "intra"}};
  Trace trace_;
  CriticalPath path_;
  Cluster cluster_;
};

TEST_F(BottleneckTest, PartsAreCausesLongestFirst) {
  const std::vector<PathPart> parts = path_parts(hand_.program(), trace_, &cluster_, path_);
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(parts[0].cause, "inter-node AlltoAll");
  EXPECT_EQ(parts[0].time, ps(70));
  EXPECT_THAT(parts[0].kinds, ElementsAre(Pair("dispatch", ps(40)), Pair("combine", ps(30))));
  EXPECT_EQ(parts[1].cause, "compute");
  EXPECT_EQ(parts[1].time, ps(25));
  EXPECT_EQ(parts[2].cause, "intra-node AllGather");
}

TEST_F(BottleneckTest, WithoutAClusterTheGroupTells) {
  EXPECT_EQ(path_parts(hand_.program(), trace_, nullptr, path_)[0].cause, "AlltoAll over ep");
}

TEST_F(BottleneckTest, Sentence) {
  const std::vector<PathPart> parts = path_parts(hand_.program(), trace_, &cluster_, path_);
  const Bottleneck found = find_bottleneck(parts, usage(hand_.program(), trace_), trace_.end);
  EXPECT_EQ(found.name, "inter-node AlltoAll");
  EXPECT_EQ(found.time, ps(70));
  EXPECT_EQ(found.path_time, ps(70));
  EXPECT_EQ(found.sentence,
            "inter-node AlltoAll (dispatch 40 %, combine 30 %): 70 % of the critical path; the "
            "busiest stream is inter at 70 % of the iteration");
}

// Kinds beyond the third and of less than half a percent are left out; "fixed" would say nothing.
TEST(FindBottleneckTest, NamesFewKinds) {
  const PathPart many = {
      "compute", {{"a", ps(20)}, {"b", ps(15)}, {"c", ps(10)}, {"d", ps(5)}}, ps(50)};
  EXPECT_EQ(find_bottleneck({many}, {}, ps(100)).sentence,
            "compute (a 20 %, b 15 %, c 10 %, ...): 50 % of the critical path");
  const PathPart one = {"compute", {{"a", ps(498)}, {"b", ps(2)}}, ps(500)};
  EXPECT_EQ(find_bottleneck({one}, {}, ps(1000)).sentence,
            "compute (a 50 %, ...): 50 % of the critical path");
  const PathPart fixed = {"stream compute", {{"fixed", ps(100)}}, ps(100)};
  EXPECT_EQ(find_bottleneck({fixed}, {}, ps(100)).sentence,
            "stream compute: 100 % of the critical path");
}

Usage usage_of(Time wait, Time exposed, Time computing) {
  Usage usage;
  usage.straggler_wait = wait;
  usage.exposed_communication = exposed;
  usage.computing = computing;
  return usage;
}

// The path is that of the slowest rank, which computes 85 of 100; the others wait most of the time.
TEST(FindBottleneckTest, StragglersHideBehindTheSlowestRanksPath) {
  const std::vector<PathPart> parts = {{"compute", {{"expert", ps(85)}}, ps(85)},
                                       {"inter-node AlltoAll", {{"dispatch", ps(15)}}, ps(15)}};
  const Bottleneck found = find_bottleneck(parts, usage_of(ps(57), ps(18), ps(37)), ps(100));
  EXPECT_EQ(found.name, "stragglers");
  EXPECT_EQ(found.time, ps(57));
  EXPECT_EQ(found.path_time, ps(0));
  EXPECT_EQ(found.sentence,
            "stragglers: ranks wait for the last of their group 57 % of the iteration and compute "
            "37 %; on the critical path compute (expert 85 %) takes 85 %");
  EXPECT_EQ(find_bottleneck(parts, usage_of(ps(37), ps(18), ps(57)), ps(100)).name, "compute");
}

// One micro-batch on four stages: a rank computes a quarter of the iteration.
TEST(FindBottleneckTest, ABubbleIsWaitingForAnotherStage) {
  const std::vector<PathPart> parts = {{"compute", {{"expert", ps(95)}}, ps(95)},
                                       {"inter-node shift", {{"activation_shift", ps(5)}}, ps(5)}};
  Usage usage = usage_of(ps(0), ps(5), ps(25));
  usage.stage_wait = ps(60);
  const Bottleneck found = find_bottleneck(parts, usage, ps(100));
  EXPECT_EQ(found.name, "bubble");
  EXPECT_EQ(found.time, ps(60));
  EXPECT_EQ(found.sentence,
            "bubble: ranks wait for another stage 60 % of the iteration and compute 25 %; on the "
            "critical path compute (expert 95 %) takes 95 %");
  usage.stage_wait = ps(20);
  EXPECT_EQ(find_bottleneck(parts, usage, ps(100)).name, "compute");
}

// One of many chains that are about as long as the iteration; ranks compute nearly all the time.
TEST(FindBottleneckTest, SaturatedComputeIsNoMatterOfOnePath) {
  const std::vector<PathPart> parts = {{"inter-node AlltoAll", {{"dispatch", ps(60)}}, ps(60)},
                                       {"compute", {{"expert", ps(40)}}, ps(40)}};
  const Bottleneck found = find_bottleneck(parts, usage_of(ps(0), ps(9), ps(91)), ps(100));
  EXPECT_EQ(found.name, "compute");
  EXPECT_EQ(found.time, ps(91));
  EXPECT_EQ(found.path_time, ps(40));
  EXPECT_EQ(found.sentence,
            "compute: ranks compute 91 % of the iteration; on the critical path inter-node "
            "AlltoAll (dispatch 60 %) takes 60 %");
}

// A fixed time may stand for communication as well: it is told by its stream.
TEST(PathPartsTest, FixedTasksAreToldByStream) {
  HandProgram hand(1, {"compute", "inter"});
  hand.add_fixed("dispatch", 1, ps(10));
  const Trace trace = run_recurrence(hand.program(), hand.durations(), {.launch_overhead = ps(2)});
  const CriticalPath path = critical_path(hand.program(), trace, 32);
  const std::vector<PathPart> parts = path_parts(hand.program(), trace, nullptr, path);
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].cause, "stream inter");
  EXPECT_EQ(parts[1].cause, "kernel launches");
}

}  // namespace
}  // namespace moesim
