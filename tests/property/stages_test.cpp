// Stages and micro-batches: the verifier accepts every schedule's Programs under both orders, and
// what they compute equals, bit for bit, the unpartitioned model of all micro-batches together.
// Mutants (a task swapped with one that it depends on, SHIFTs off by a row, in the wrong direction,
// of the wrong boundary or micro-batch) are named by the verifier or change the results.
#include <gtest/gtest.h>

#include "kernels/reference/equality.h"
#include "sim/base/error.h"
#include "sim/cli/validate/equality_cases.h"
#include "sim/program/verifier.h"
#include "sim/schedule/task_kinds.h"
#include "sim/schedule/unit_evaluator.h"
#include "tests/property/program_mutants.h"

namespace moesim {
namespace {

constexpr StageOrder kOrders[] = {StageOrder::kGpipe, StageOrder::kOneForwardOneBackward};

// Two layers on each of `stages` stages of 4 ranks, two samples in each micro-batch.
Scenario staged(int stages, int micro_batches, StageOrder order) {
  Scenario scenario = validation::equality_scenario(
      {.mp = 2, .dp = 2, .esp = 2, .ep = 2, .edp = 1, .pp = stages}, validation::Load::kDrops);
  scenario.model.layers = 2 * stages;
  scenario.model.batch = 2 * micro_batches;
  scenario.model.sequence = 8;
  scenario.pipeline = {micro_batches, order};
  return scenario;
}

Program build(const std::string& schedule, const Scenario& scenario) {
  const int non_moe = schedule == "sp_moe" ? 2 : 1;
  const Degrees degrees = Degrees::uniform(scenario.model.layers, 2, 2, non_moe);
  return build_schedule(schedule, scenario, degrees, unit_evaluator());
}

std::string problems_of(const Program& program, int hardware_queues) {
  std::string text;
  for (const Problem& problem : verify(program, {.hardware_queues = hardware_queues}).problems) {
    text += to_string(problem) + "\n";
  }
  return text;
}

std::string difference(const Program& program, const Scenario& scenario) {
  const ComparedRun run = run_beside_reference(program, program, scenario, Rounding::kExact);
  return first_difference(run.actual, run.expected, 0);
}

class StagesTest : public ::testing::TestWithParam<std::string> {};

TEST_P(StagesTest, TheVerifierAcceptsThem) {
  for (const int stages : {1, 2, 4}) {
    for (const int micro_batches : {1, 2, 3, 8}) {
      for (const StageOrder order : kOrders) {
        SCOPED_TRACE(::testing::Message() << stages << " stages, " << micro_batches
                                          << " micro-batches, order " << static_cast<int>(order));
        const Program program = build(GetParam(), staged(stages, micro_batches, order));
        EXPECT_EQ(problems_of(program, 1), "");
        EXPECT_EQ(problems_of(program, 32), "");
      }
    }
  }
}

TEST_P(StagesTest, EqualTheWholeModel) {
  for (const auto& [stages, micro_batches] : {std::pair{1, 3}, {2, 1}, {2, 2}, {2, 4}, {3, 4}}) {
    for (const StageOrder order : kOrders) {
      SCOPED_TRACE(::testing::Message() << stages << " stages, " << micro_batches
                                        << " micro-batches, order " << static_cast<int>(order));
      const Scenario scenario = staged(stages, micro_batches, order);
      ASSERT_EQ(difference(build(GetParam(), scenario), scenario), "");
    }
  }
}

TEST_P(StagesTest, EqualTheWholeModelWithOtherFeatures) {
  for (const Recompute recompute : {Recompute::kSelective, Recompute::kFull}) {
    Scenario scenario = staged(2, 2, StageOrder::kOneForwardOneBackward);
    scenario.model.recompute = recompute;
    scenario.model.optimizer = OptimizerAlgorithm::kAdam;
    scenario.model.feed_forward = FeedForward::kSwiglu;
    scenario.model.capacity_factor.reset();
    scenario.routing.kind = RoutingKind::kZipf;
    scenario.routing.zipf_exponent = 1;
    const Program program = build(GetParam(), scenario);
    EXPECT_EQ(problems_of(program, 1), "");
    EXPECT_EQ(difference(program, scenario), "");
  }
}

bool is_seen(const Program& mutant, const Program& original, const Scenario& scenario) {
  try {
    const ComparedRun run = run_beside_reference(mutant, original, scenario, Rounding::kExact);
    return !first_difference(run.actual, run.expected, 0).empty();
  } catch (const Error&) {
    return true;
  }
}

bool is_shift(const Task& task) {
  return task.kind == task_kind::kActivationShift || task.kind == task_kind::kGradientShift;
}

// A receiver's stale rows: a SHIFT reads the activations of another micro-batch.
TEST_P(StagesTest, AShiftOfTheWrongMicroBatchIsSeen) {
  const Scenario scenario = staged(2, 2, StageOrder::kGpipe);
  const Program program = build(GetParam(), scenario);
  std::vector<std::size_t> shifts;
  for (std::size_t task = 0; task < program.tasks.size(); ++task) {
    if (program.tasks[task].kind == task_kind::kActivationShift) {
      shifts.push_back(task);
    }
  }
  ASSERT_EQ(shifts.size(), 2U);
  Program mutant = program;
  mutant.tasks[shifts[1]].reads = program.tasks[shifts[0]].reads;
  EXPECT_TRUE(is_seen(mutant, program, scenario));
}

TEST_P(StagesTest, AShiftInTheWrongDirectionIsNamed) {
  const Scenario scenario = staged(2, 2, StageOrder::kOneForwardOneBackward);
  const Program program = build(GetParam(), scenario);
  int shifts = 0;
  Program mutant = program;
  for (Task& task : mutant.tasks) {
    if (is_shift(task)) {
      auto& collective = std::get<Collective>(task.descriptor);
      collective.distance = -collective.distance;
      EXPECT_NE(problems_of(mutant, 32), "") << task.name;
      collective.distance = -collective.distance;
      ++shifts;
    }
  }
  EXPECT_EQ(shifts, 4);  // two micro-batches over one boundary, there and back
}

// Without any one of its waits a SHIFT, or who waits for one, is in a race.
TEST_P(StagesTest, EveryWaitOfAndForAShiftIsNeeded) {
  const Scenario scenario = staged(3, 3, StageOrder::kOneForwardOneBackward);
  const Program program = build(GetParam(), scenario);
  int removed = 0;
  Program mutant = program;
  for (Task& task : mutant.tasks) {
    for (std::size_t i = 0; i < task.waits.size(); ++i) {
      const int wait = task.waits[i];
      if (!is_shift(task) && !is_shift(program.tasks[static_cast<std::size_t>(wait)])) {
        continue;
      }
      task.waits.erase(task.waits.begin() + static_cast<std::ptrdiff_t>(i));
      EXPECT_NE(problems_of(mutant, 32), "") << task.name;
      task.waits.insert(task.waits.begin() + static_cast<std::ptrdiff_t>(i), wait);
      ++removed;
    }
  }
  EXPECT_GE(removed, 2 * 2 * 3);  // boundaries, directions, micro-batches
}

INSTANTIATE_TEST_SUITE_P(AllSchedules,
                         StagesTest,
                         ::testing::ValuesIn(schedule_names()),
                         [](const auto& parameter) { return parameter.param; });

}  // namespace
}  // namespace moesim
