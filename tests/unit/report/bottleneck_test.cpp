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
  EXPECT_THAT(parts[0].kinds, ElementsAre("dispatch", "combine"));
  EXPECT_EQ(parts[1].cause, "compute");
  EXPECT_EQ(parts[1].time, ps(25));
  EXPECT_EQ(parts[2].cause, "intra-node AllGather");
}

TEST_F(BottleneckTest, WithoutAClusterTheGroupTells) {
  EXPECT_EQ(path_parts(hand_.program(), trace_, nullptr, path_)[0].cause, "AlltoAll over ep");
}

TEST_F(BottleneckTest, Sentence) {
  const std::vector<PathPart> parts = path_parts(hand_.program(), trace_, &cluster_, path_);
  EXPECT_EQ(bound_sentence(parts, usage(hand_.program(), trace_), trace_.end),
            "inter-node AlltoAll (dispatch, combine): 70 % of the critical path; the busiest "
            "stream is inter at 70 % of the iteration");
}

// Kinds beyond the third are left out; "fixed" would say nothing.
TEST(BoundSentenceTest, NamesFewKinds) {
  const PathPart many = {"compute", {"a", "b", "c", "d"}, ps(50)};
  EXPECT_EQ(bound_sentence({many}, {}, ps(100)),
            "compute (a, b, c, ...): 50 % of the critical path");
  const PathPart fixed = {"stream compute", {"fixed"}, ps(100)};
  EXPECT_EQ(bound_sentence({fixed}, {}, ps(100)), "stream compute: 100 % of the critical path");
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
