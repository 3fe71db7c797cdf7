#include <gtest/gtest.h>

#include "sim/engine/simulate.h"
#include "sim/report/result.h"
#include "tests/support/hand_program.h"

namespace moesim {
namespace {

using test::HandProgram;
using test::ps;

// Two nodes of one GPU; two streams that exchange 1000 bytes each at 1 ns a byte over the same
// port: 1 us each alone, 2 us together.
class UncontendedBoundsTest : public ::testing::Test {
 protected:
  UncontendedBoundsTest() {
    const int world = hand_.add_group("world", {{0, 1}});
    Collective exchange = test::all_to_all(world);
    exchange.bytes = 1000;
    hand_.add_collective("dispatch", 0, exchange, ps(0));
    hand_.add_collective("combine", 1, exchange, ps(0));
    cluster_.num_nodes = 2;
    cluster_.gpus_per_node = 1;
    CollectiveCost cost;
    cost.operation = CollectiveOperation::kAllToAll;
    cost.span = Span::kFabric;
    cost.group_size = 2;
    cost.seconds_per_byte = 1e-9;
    profile_.collectives = {cost};
  }

  ResultInputs inputs() const {
    ResultInputs inputs;
    inputs.program = &hand_.program();
    inputs.cluster = &cluster_;
    inputs.profile = &profile_;
    return inputs;
  }

  HandProgram hand_{2, {"inter", "other"}};
  Cluster cluster_;
  Profile profile_;
};

TEST_F(UncontendedBoundsTest, StreamsShareAPort) {
  const LowerBounds bounds = uncontended_bounds(inputs());
  EXPECT_EQ(bounds.busiest, ps(2'000'000));
  EXPECT_EQ(bounds.busiest_name, "port inter-node out");
  EXPECT_EQ(bounds.dependency_chain, ps(1'000'000));
}

TEST_F(UncontendedBoundsTest, TheSimulatorReachesThem) {
  const Trace trace = simulate(hand_.program(), &cluster_, &profile_);
  ResultInputs with_trace = inputs();
  with_trace.trace = &trace;
  const SimulationResult result = make_result(with_trace);
  EXPECT_DOUBLE_EQ(result.iteration_seconds, 2e-6);
  EXPECT_DOUBLE_EQ(result.busiest_seconds, 2e-6);
  EXPECT_EQ(result.bottleneck, "inter-node AlltoAll");
}

// Rank 1 computes three times as long as rank 0, 3 us, after its combine of 1 us: more than the 3
// us of the port. The chain is the computation and the exchange that waits for it, 3 + 1 us.
TEST_F(UncontendedBoundsTest, AStragglerCounts) {
  const int compute = hand_.add_fixed("compute", 1, ps(1'000'000));
  Collective exchange = test::all_to_all(0);
  exchange.bytes = 1000;
  hand_.add_collective("late", 0, exchange, ps(0), {compute});
  Program program = hand_.program();
  program.rank_scale = {1, 3};
  ResultInputs straggling = inputs();
  straggling.program = &program;
  const LowerBounds bounds = uncontended_bounds(straggling);
  EXPECT_EQ(bounds.busiest, ps(4'000'000));  // combine, then compute
  EXPECT_EQ(bounds.busiest_name, "stream other");
  EXPECT_EQ(bounds.dependency_chain, ps(4'000'000));
}

}  // namespace
}  // namespace moesim
