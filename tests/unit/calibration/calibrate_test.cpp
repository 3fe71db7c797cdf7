// A calibration against the simulator itself, which knows the truth: what is fitted must be what
// the simulator was given.
#include "calibration/calibrate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/engine/simulate.h"
#include "sim/schedule/schedule.h"

namespace moesim {
namespace {

Cluster two_by_two() {
  Cluster cluster;
  cluster.name = "c";
  cluster.num_nodes = 2;
  cluster.gpus_per_node = 2;
  cluster.intra_node = {1e7, 0};
  cluster.inter_node = {2e6, 0};
  return cluster;
}

Scenario make_scenario() {
  Scenario scenario;
  scenario.model.layers = 1;
  scenario.model.batch = 2;
  scenario.model.sequence = 64;
  scenario.model.embedding = 16;
  scenario.model.hidden = 32;
  scenario.model.heads = 4;
  scenario.model.kv_heads = 2;
  scenario.model.experts = 4;
  scenario.model.top_k = 2;
  scenario.model.capacity_factor = 1;
  scenario.model.attention = AttentionMask::kCausal;
  scenario.parallel = {2, 2, 2, 2, 1};
  return scenario;
}

// Start-ups and slopes of every collective and operation, all different.
Profile truth() {
  Profile profile;
  profile.launch_overhead_seconds = 3e-6;
  int number = 0;
  for (const auto operation : {CollectiveOperation::kAllReduce,
                               CollectiveOperation::kAllGather,
                               CollectiveOperation::kReduceScatter,
                               CollectiveOperation::kAllToAll}) {
    for (const Span span : {Span::kNode, Span::kFabric, Span::kBoth}) {
      CollectiveCost cost;
      cost.operation = operation;
      cost.span = span;
      cost.group_size = span == Span::kBoth ? 4 : 2;
      cost.startup_seconds = 1e-4 + 1e-5 * ++number;
      cost.seconds_per_byte = 1e-7 + 1e-8 * number;
      profile.collectives.push_back(cost);
    }
  }
  profile.gemm = GemmCost{2e-5, 3e-10, {}};
  profile.memory_bytes_per_second = 1e9;
  return profile;
}

const CollectiveCost* find(const Profile& profile, CollectiveOperation operation, Span span) {
  for (const CollectiveCost& cost : profile.collectives) {
    if (cost.operation == operation && cost.span == span) {
      return &cost;
    }
  }
  return nullptr;
}

class CalibrateTest : public testing::Test {
 protected:
  Profile run() {
    CalibrationSubject subject{&scenario_, &cluster_, {}};
    for (const char* schedule : {"tutel", "parm_s1"}) {
      subject.programs.push_back(
          build_schedule(schedule, scenario_, Degrees::uniform(1, 1, 1), {}));
    }
    const ProbePlan plan = plan_probes(subject);
    num_probes_ = static_cast<int>(programs_of(plan).size());
    return calibrate(plan, [this](const Program& program) {
      ++num_measured_;
      return std::vector<Trace>(3, simulate(program, &cluster_, &truth_));
    });
  }

  Cluster cluster_ = two_by_two();
  Scenario scenario_ = make_scenario();
  Profile truth_ = truth();
  int num_probes_ = 0;
  int num_measured_ = 0;
};

TEST_F(CalibrateTest, RunsWhatIsPlanned) {
  run();
  EXPECT_GT(num_measured_, 10);
  EXPECT_EQ(num_probes_, num_measured_);
}

TEST_F(CalibrateTest, FindsTheLinesOfTheCollectivesThatTheProgramsUse) {
  const Profile fitted = run();
  ASSERT_FALSE(fitted.collectives.empty());
  for (const CollectiveCost& cost : fitted.collectives) {
    const CollectiveCost* given = find(truth_, cost.operation, cost.span);
    ASSERT_NE(given, nullptr);
    EXPECT_NEAR(cost.startup_seconds, given->startup_seconds, 1e-6);
    EXPECT_NEAR(cost.seconds_per_byte, given->seconds_per_byte, 1e-4 * given->seconds_per_byte);
    EXPECT_TRUE(cost.points.empty());
  }
  // FSMoE's flow: AlltoAll between nodes, AllGather and ReduceScatter within them.
  EXPECT_NE(find(fitted, CollectiveOperation::kAllToAll, Span::kFabric), nullptr);
  EXPECT_NE(find(fitted, CollectiveOperation::kAllGather, Span::kNode), nullptr);
  EXPECT_NE(find(fitted, CollectiveOperation::kReduceScatter, Span::kNode), nullptr);
  // Parm's: AlltoAll over both.
  EXPECT_NE(find(fitted, CollectiveOperation::kAllToAll, Span::kBoth), nullptr);
  // Nobody broadcasts.
  EXPECT_EQ(find(fitted, CollectiveOperation::kBroadcast, Span::kBoth), nullptr);
}

// The truth for an expert's forward pass: 2 GEMMs of 20 us and 0.3 ns a FLOP; for its backward
// pass 4 GEMMs. Order moves bytes at 1 GB/s: 1 ns a byte, no start-up.
TEST_F(CalibrateTest, FindsTheLinesOfOperationsByPass) {
  const Profile fitted = run();
  int found = 0;
  for (const OperationCost& cost : fitted.operations) {
    if (cost.operation == "expert") {
      const int num_gemms = cost.pass == Pass::kForward ? 2 : 4;
      EXPECT_NEAR(cost.startup_seconds, num_gemms * 2e-5, 1e-9);
      EXPECT_NEAR(cost.seconds_per_flop, 3e-10, 1e-14);
      ++found;
    } else if (cost.operation == "order") {
      EXPECT_NEAR(cost.startup_seconds, 0, 1e-9);
      EXPECT_NEAR(cost.seconds_per_byte, 1e-9, 1e-12);
      ++found;
    }
  }
  EXPECT_EQ(found, 4);
}

TEST_F(CalibrateTest, FindsTheLaunchOverhead) {
  EXPECT_NEAR(run().launch_overhead_seconds, 3e-6, 1e-9);
}

// A table stands for what no line fits. Sizes from 8 KiB (what the Programs send) to 32 KiB, and a
// jump to 25 times at 15,000 B.
TEST_F(CalibrateTest, KeepsATableWhereNoLineFits) {
  for (CollectiveCost& cost : truth_.collectives) {
    if (cost.operation == CollectiveOperation::kAllToAll && cost.span == Span::kFabric) {
      cost.points = {{1, 1e-4}, {15000, 1.2e-4}, {15001, 3e-3}, {1 << 20, 3.1e-3}};
    }
  }
  const Profile fitted = run();
  const CollectiveCost* cost = find(fitted, CollectiveOperation::kAllToAll, Span::kFabric);
  ASSERT_NE(cost, nullptr);
  EXPECT_GE(cost->points.size(), 3U);
  EXPECT_EQ(cost->seconds_per_byte, 0);
  EXPECT_GT(cost->fit.num_samples, 0);
  EXPECT_EQ(cost->fit.r_squared, 0);  // not that of the line that did not fit
}

// The simulator's ports are shared: two AlltoAlls between nodes take twice as long as one, but for
// the start-up that both pay at once.
TEST_F(CalibrateTest, NotesWhatTwoAtOnceTake) {
  EXPECT_THAT(run().environment,
              testing::Contains(testing::MatchesRegex("two at once between nodes: 1\\.[0-9]+ .*")));
}

}  // namespace
}  // namespace moesim
