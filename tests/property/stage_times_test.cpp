// What stages and micro-batches cost, against closed forms that are worked out here. Only attention
// takes time, one rank is a stage, and the only collectives are the SHIFTs between stages.
#include <gtest/gtest.h>

#include "sim/analysis/memory.h"
#include "sim/engine/simulate.h"
#include "sim/schedule/task_kinds.h"
#include "sim/schedule/unit_evaluator.h"

namespace moesim {
namespace {

constexpr StageOrder kGpipe = StageOrder::kGpipe;
constexpr StageOrder k1F1B = StageOrder::kOneForwardOneBackward;

constexpr int kLayersPerStage = 2;

// Microseconds that a stage's layers, forward and backward, and a SHIFT take.
struct Times {
  int forward = 0;
  int backward = 0;
  int shift = 0;
};

Time microseconds(int64_t count) {
  return Time::from_picoseconds(count * 1'000'000);
}

Cluster line_of(int ranks) {
  Cluster cluster;
  cluster.name = "line";
  cluster.num_nodes = ranks;
  cluster.gpus_per_node = 1;
  return cluster;
}

Profile make_profile(const Times& times) {
  Profile profile;
  profile.name = "stages";
  for (const auto& [pass, time] :
       {std::pair{Pass::kForward, times.forward}, std::pair{Pass::kBackward, times.backward}}) {
    OperationCost cost;
    cost.operation = "attention";
    cost.pass = pass;
    cost.startup_seconds = time * 1e-6 / kLayersPerStage;
    profile.operations.push_back(cost);
  }
  CollectiveCost free;  // AllReduce
  free.span = Span::kFabric;
  profile.collectives.push_back(free);
  CollectiveCost shift;
  shift.operation = CollectiveOperation::kShift;
  shift.span = Span::kFabric;
  shift.startup_seconds = times.shift * 1e-6;
  profile.collectives.push_back(shift);
  return profile;
}

Scenario make_scenario(int stages, int micro_batches, StageOrder order) {
  Scenario scenario;
  scenario.path = scenario.name = "stages";
  ModelConfig& model = scenario.model;
  model.layers = kLayersPerStage * stages;
  model.batch = micro_batches;
  model.sequence = model.embedding = model.hidden = 4;
  model.heads = model.kv_heads = model.experts = 2;
  model.top_k = 1;
  scenario.parallel = {.mp = 1, .dp = 1, .esp = 1, .ep = 1, .edp = 1, .pp = stages};
  scenario.pipeline = {micro_batches, order};
  return scenario;
}

struct StagedRun {
  Program program;
  Trace trace;
};

StagedRun run(const Scenario& scenario, const Times& times, Resolution resolution) {
  const Degrees degrees = Degrees::uniform(scenario.model.layers, 1, 1);
  Program program = build_schedule("deepspeed_moe", scenario, degrees, unit_evaluator());
  const Cluster cluster = line_of(scenario.parallel.world());
  const Profile profile = make_profile(times);
  Trace trace = simulate(program, &cluster, &profile, {.resolution = resolution});
  return {std::move(program), std::move(trace)};
}

Time iteration(int stages, int micro_batches, StageOrder order, const Times& times) {
  return run(make_scenario(stages, micro_batches, order), times, Resolution::kPorts).trace.end;
}

// The last micro-batch reaches the last stage after m - 1 forward times in front of it and leaves
// that stage after p forward times of its own: (m + p - 1) f; the way back is the same:
//   T = (m + p - 1)(f + b), in either order (Narayanan et al. 2021, section 2.2.1: the bubble is
// (p - 1)(f + b)).
TEST(StageTimesTest, FreeShifts) {
  const Times times{10, 20, 0};
  for (const int p : {1, 2, 3, 4, 8}) {
    for (const int m : {1, 2, 3, 4, 7, 8, 16}) {
      for (const StageOrder order : {kGpipe, k1F1B}) {
        SCOPED_TRACE(::testing::Message() << p << " stages, " << m << " micro-batches");
        EXPECT_EQ(iteration(p, m, order, times), microseconds((m + p - 1) * (10 + 20)));
      }
    }
  }
}

// Forward is a line of p stages and p - 1 SHIFTs, each of which takes one micro-batch at a time: it
// ends after one micro-batch's way through it and m - 1 more times of its slowest part; backward
// likewise:
//   T = p (f + b) + 2 (p - 1) t + (m - 1)(max(f, t) + max(b, t)).
TEST(StageTimesTest, GpipeHidesShiftsThatAreShorterThanTheStages) {
  for (const Times& times : {Times{10, 20, 3}, Times{10, 20, 10}, Times{10, 20, 15}}) {
    for (const int p : {2, 3, 4, 8}) {
      for (const int m : {1, 2, 5, 8}) {
        const auto [f, b, t] = times;
        const int more = (m - 1) * (std::max(f, t) + std::max(b, t));
        EXPECT_EQ(iteration(p, m, kGpipe, times),
                  microseconds(p * (f + b) + 2 * (p - 1) * t + more));
      }
    }
  }
}

// A stage has p micro-batches under way at most: the first stage goes forward with micro-batch
// i + p when i is back, which takes p (f + b) + 2 (p - 1) t. So p micro-batches take that long, and
// the SHIFTs of the way there and back, 2 (p - 1) t of each p, are not hidden. One by one the loss
// is a whole number of times there and back over a boundary:
//   T = (m + p - 1)(f + b) + 2 t (p - 1 + floor((m - 1)(p - 1) / p)) for t <= f, b.
TEST(StageTimesTest, OneForwardOneBackwardPaysForShiftsInItsSteadyState) {
  for (const Times& times : {Times{10, 20, 3}, Times{10, 20, 10}, Times{20, 10, 5}}) {
    for (const int p : {2, 3, 4, 8}) {
      for (const int m : {1, 2, 3, 5, 8, 17}) {
        const auto [f, b, t] = times;
        const int paid = p - 1 + (m - 1) * (p - 1) / p;
        SCOPED_TRACE(::testing::Message() << p << " stages, " << m << " micro-batches, t " << t);
        EXPECT_EQ(iteration(p, m, k1F1B, times),
                  microseconds((m + p - 1) * (f + b) + 2 * t * paid));
      }
    }
  }
}

// One hardware queue starts tasks in launch order: a stage receives what its next pass needs when
// all tasks of the pass before have started, not sooner. Each pass may so begin t later, and on the
// longest way there are 2 (m + p - 1) of them.
TEST(StageTimesTest, OneHardwareQueueShowsShifts) {
  for (const StageOrder order : {kGpipe, k1F1B}) {
    for (const int p : {2, 4}) {
      const Scenario scenario = make_scenario(p, 8, order);
      const StagedRun many = run(scenario, {10, 20, 3}, Resolution::kPorts);
      Profile profile = make_profile({10, 20, 3});
      profile.hardware_queues = 1;
      const Cluster cluster = line_of(p);
      const Time one = simulate(many.program, &cluster, &profile).end;
      EXPECT_GE(one, many.trace.end);
      EXPECT_LE(one, many.trace.end + microseconds(2 * (8 + p - 1) * 3));
    }
  }
}

// Stages are roles, and ranks of different roles are never alike.
TEST(StageTimesTest, FoldsWithAClassForEachStage) {
  for (const StageOrder order : {kGpipe, k1F1B}) {
    Scenario scenario = make_scenario(4, 6, order);
    scenario.parallel.dp = scenario.parallel.edp = 3;
    const StagedRun folded = run(scenario, {10, 20, 3}, Resolution::kFold);
    EXPECT_EQ(folded.trace.classes.size(), 4U);
    EXPECT_EQ(folded.trace.end, run(scenario, {10, 20, 3}, Resolution::kPorts).trace.end);
  }
}

int64_t activations(int stages, int micro_batches, StageOrder order) {
  const StagedRun one =
      run(make_scenario(stages, micro_batches, order), {10, 20, 1}, Resolution::kPorts);
  return memory_use(one.program, one.trace).activation_bytes;
}

// The first stage keeps m micro-batches under GPIPE, min(m, p) under ONE_F_ONE_B, where more than p
// add nothing but their data (B, L, M): the input, which is there from the beginning, and its
// gradient, which is there to the end.
TEST(StageTimesTest, ActivationsThatAreKept) {
  const int64_t data = int64_t{4} * 4 * 4;  // of a micro-batch: L * M * 4 bytes
  for (const int p : {2, 4}) {
    const int64_t kept = activations(p, p + 1, kGpipe) - activations(p, p, kGpipe);
    EXPECT_GT(kept, 10 * data);
    EXPECT_LE(activations(p, p, k1F1B), activations(p, p, kGpipe));
    EXPECT_GT(activations(p, p, k1F1B), (p - 1) * kept);
    EXPECT_LT(activations(p, p + 1, k1F1B), activations(p, p, k1F1B) + kept);
    for (const int m : {p, 2 * p, 3 * p}) {
      SCOPED_TRACE(::testing::Message() << p << " stages, " << m << " micro-batches");
      EXPECT_EQ(activations(p, m, kGpipe) - activations(p, p, kGpipe), (m - p) * kept);
      const int64_t more = activations(p, m + p, k1F1B) - activations(p, m + 1, k1F1B);
      EXPECT_LE(more, 2 * (p - 1) * data);
    }
  }
}

}  // namespace
}  // namespace moesim
