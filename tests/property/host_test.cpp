// Random Programs of fixed tasks, host waits and collectives without bytes, on 1 to 4 ranks with
// roles, several streams, launch overhead, 1 to 4 hardware queues and rank scales, executed for
// real: with the anchored clock the spans equal those of the recurrence, to the picosecond. The
// clock ignores every delay of this machine here, so that only wiring can fail. And every schedule,
// executed with random delays, leaves the same in all tensors as its tasks do one after the other.
// A failure prints its seed.
#include <algorithm>

#include <gtest/gtest.h>

#include "kernels/host/host_executor.h"
#include "kernels/inputs.h"
#include "kernels/sequential_executor.h"
#include "sim/analysis/recurrence.h"
#include "sim/schedule/registry.h"
#include "tests/property/random_fixed_program.h"
#include "tests/unit/schedule/small_scenario.h"

namespace moesim {
namespace {

constexpr int kNumPrograms = 60;
constexpr int kNumSeeds = 4;                 // of delays
constexpr std::int64_t kUnit = 150'000'000;  // what takes 1 ps in the Program made takes 0.15 ms

Program slowed_down(Program program) {
  for (Task& task : program.tasks) {
    if (auto* fixed = std::get_if<Fixed>(&task.descriptor)) {
      fixed->time = fixed->time * kUnit;
    }
  }
  return program;
}

TEST(HostPropertyTest, RandomProgramsEqualTheRecurrence) {
  for (int seed = 0; seed < kNumPrograms; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const Program program = slowed_down(RandomFixedProgram(random).program());
    RecurrenceOptions recurrence;
    recurrence.hardware_queues = pick(random, 1, 4);
    recurrence.launch_overhead = ps(pick(random, 0, 3)) * kUnit;
    HostOptions options;
    options.clock = HostClock::kAnchored;
    options.overrun = Time::from_seconds(3600);
    options.hardware_queues = recurrence.hardware_queues;
    options.launch_overhead = recurrence.launch_overhead;
    TensorStore tensors(program);
    HostExecutor executor(program, options);
    const std::vector<TaskSpan> expected = solve_recurrence(program, recurrence);
    for (int run = 0; run < 2; ++run) {
      expect_equal(executor.run(tensors).trace.spans, expected);
    }
    if (HasFailure()) {
      return;
    }
  }
}

// The first buffer that differs in a bit, or nothing.
std::string first_difference(const TensorStore& left, const TensorStore& right) {
  const Program& program = left.program();
  for (int tensor = 0; tensor < static_cast<int>(program.tensors.size()); ++tensor) {
    for (const int rank : left.ranks()) {
      if (!std::ranges::equal(left.contents(rank, tensor), right.contents(rank, tensor))) {
        return program.tensors[tensor].name + " on rank " + std::to_string(rank);
      }
    }
  }
  return {};
}

class HostScheduleTest : public ::testing::TestWithParam<std::string> {};

void expect_that_concurrency_changes_nothing(const std::string& schedule, Scenario scenario) {
  scenario.routing.kind = RoutingKind::kZipf;
  scenario.routing.zipf_exponent = 1;
  scenario.model.capacity_factor.reset();
  const int degree = schedule.starts_with("parm") ? 1 : 2;
  const Program program = build_schedule(
      schedule, scenario, testing::degrees(scenario, degree, degree), unit_evaluator());
  const RowMap map(program);
  TensorStore expected(program);
  fill_inputs(InputData::kInteger, expected);
  run_in_launch_order(map, Rounding::kExact, expected);
  for (int seed = 0; seed < kNumSeeds; ++seed) {
    HostOptions options;
    options.clock = seed % 2 == 0 ? HostClock::kFree : HostClock::kRaw;
    options.rounding = Rounding::kExact;
    options.hardware_queues = seed < 2 ? 32 : 1;
    options.delays = DelayInjection{static_cast<std::uint64_t>(seed), Time::from_seconds(1e-3)};
    TensorStore tensors(program);
    fill_inputs(InputData::kInteger, tensors);
    HostExecutor(program, options).run(tensors);
    EXPECT_EQ(first_difference(tensors, expected), "") << "seed " << seed;
  }
}

TEST_P(HostScheduleTest, ConcurrencyChangesNothing) {
  expect_that_concurrency_changes_nothing(GetParam(), testing::small_scenario());
}

// Three stages of two ranks, each with a layer, and four micro-batches.
TEST_P(HostScheduleTest, ConcurrencyOfStagesChangesNothing) {
  for (const StageOrder order : {StageOrder::kGpipe, StageOrder::kOneForwardOneBackward}) {
    Scenario scenario = testing::small_scenario();
    scenario.parallel = {.mp = 2, .dp = 1, .esp = 2, .ep = 1, .edp = 1, .pp = 3};
    scenario.pipeline = {4, order};
    scenario.model.layers = 3;
    scenario.model.batch = 4;
    expect_that_concurrency_changes_nothing(GetParam(), scenario);
  }
}

INSTANTIATE_TEST_SUITE_P(AllSchedules,
                         HostScheduleTest,
                         ::testing::ValuesIn(schedule_names()),
                         [](const auto& parameter) { return parameter.param; });

}  // namespace
}  // namespace moesim
