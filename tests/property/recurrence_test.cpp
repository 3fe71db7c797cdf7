// Random Programs of fixed tasks, host waits and collectives that take no time, on 1 to 4 ranks
// with roles, several streams, launch overhead, 1 to 4 hardware queues and rank scales: the
// engine's spans equal those of an independent recurrence, to the picosecond. A failure prints its
// seed.
#include "sim/analysis/recurrence.h"

#include <gtest/gtest.h>

#include "sim/engine/simulate.h"
#include "tests/property/random_fixed_program.h"

namespace moesim {
namespace {

constexpr int kNumPrograms = 1000;

TEST(RecurrencePropertyTest, RandomProgramsEqualTheRecurrence) {
  const Cluster cluster = make_cluster(2, 2);
  Profile profile;
  for (const Span span : {Span::kNode, Span::kFabric, Span::kBoth}) {
    profile.collectives.push_back(make_cost(CollectiveOperation::kAllGather, span, 0, 0));
  }
  for (int seed = 0; seed < kNumPrograms; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const RandomFixedProgram made(random);
    RecurrenceOptions recurrence;
    recurrence.hardware_queues = pick(random, 1, 4);
    recurrence.launch_overhead = ps(pick(random, 0, 3));
    profile.hardware_queues = recurrence.hardware_queues;
    profile.launch_overhead_seconds = recurrence.launch_overhead.seconds();
    SimulationOptions options;
    options.resolution = Resolution::kPorts;
    const Trace trace = simulate(made.program(), &cluster, &profile, options);
    expect_equal(trace.spans, solve_recurrence(made.program(), recurrence));
    if (HasFailure()) {
      return;
    }
  }
}

}  // namespace
}  // namespace moesim
