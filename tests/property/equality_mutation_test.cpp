// What makes the equality tests fail: a wrong reference, two dependent tasks swapped, a region off
// by a row; and the verifier names what it can see of each before anything runs.
#include <algorithm>

#include <gtest/gtest.h>

#include "kernels/reference/equality.h"
#include "sim/base/error.h"
#include "sim/cli/validate/equality_cases.h"
#include "sim/program/verifier.h"
#include "sim/schedule/unit_evaluator.h"

namespace moesim {
namespace {

Scenario small() {
  Scenario scenario = validation::equality_scenario({.mp = 2, .dp = 2, .esp = 2, .ep = 2, .edp = 1},
                                                    validation::Load::kDrops);
  scenario.model.sequence = 8;
  scenario.model.optimizer = OptimizerAlgorithm::kSgd;
  return scenario;
}

Program build(const std::string& schedule, const Scenario& scenario) {
  const int non_moe = schedule == "sp_moe" ? 2 : 1;
  const Degrees degrees = Degrees::uniform(scenario.model.layers, 2, 2, non_moe);
  return build_schedule(schedule, scenario, degrees, unit_evaluator());
}

// What the mutant computed differs from the reference of the original, or its ranks contradict each
// other.
bool is_seen(const Program& mutant, const Program& original, const Scenario& scenario) {
  try {
    const ComparedRun run = run_beside_reference(mutant, original, scenario, Rounding::kExact);
    return !first_difference(run.actual, run.expected, 0).empty();
  } catch (const Error&) {
    return true;
  }
}

bool is_flagged(const Program& mutant, size_t warnings) {
  const Verdict verdict = verify(mutant);
  return !verdict.ok() || verdict.warnings.size() != warnings;
}

class EqualityMutationTest : public ::testing::TestWithParam<std::string> {};

TEST_P(EqualityMutationTest, AWrongReferenceFails) {
  const Scenario scenario = small();
  const Program program = build(GetParam(), scenario);
  ComparedRun run = run_beside_reference(program, program, scenario, Rounding::kExact);
  ASSERT_EQ(first_difference(run.actual, run.expected, 0), "");
  run.expected.gradients[0].w1[0].values[3] += 1.0F / 64;  // the smallest step of a product
  EXPECT_NE(first_difference(run.actual, run.expected, 0), "");
}

bool touch(const std::vector<Region>& left, const std::vector<Region>& right) {
  return std::any_of(left.begin(), left.end(), [&](const Region& one) {
    return std::any_of(right.begin(), right.end(), [&](const Region& other) {
      return one.tensor == other.tensor && one.first_row == other.first_row &&
             one.first_block == other.first_block;
    });
  });
}

// The later task reads what the earlier one wrote, and does not merely add to the same sum.
bool needs(const Task& later, const Task& earlier) {
  return touch(earlier.writes, later.reads) && !touch(earlier.writes, later.writes);
}

// Both tasks keep what waits for them.
Program with_tasks_swapped(const Program& program, int first, int second) {
  Program mutant = program;
  std::swap(mutant.tasks[static_cast<size_t>(first)], mutant.tasks[static_cast<size_t>(second)]);
  for (Task& task : mutant.tasks) {
    for (int& wait : task.waits) {
      wait = wait == first ? second : (wait == second ? first : wait);
    }
    std::sort(task.waits.begin(), task.waits.end());
  }
  return mutant;
}

TEST_P(EqualityMutationTest, DependentTasksSwapped) {
  const Scenario scenario = small();
  const Program program = build(GetParam(), scenario);
  const size_t warnings = verify(program).warnings.size();
  std::vector<int> last_on_stream(program.streams.size(), kNone);
  int swapped = 0;
  for (int task = 0; task < static_cast<int>(program.tasks.size()); ++task) {
    const Task& later = program.tasks[static_cast<size_t>(task)];
    const int previous = std::exchange(last_on_stream[static_cast<size_t>(later.stream)], task);
    if (previous == kNone || !needs(later, program.tasks[static_cast<size_t>(previous)])) {
      continue;
    }
    SCOPED_TRACE(later.name + " before " + program.tasks[static_cast<size_t>(previous)].name);
    const Program mutant = with_tasks_swapped(program, previous, task);
    EXPECT_TRUE(is_flagged(mutant, warnings));
    EXPECT_TRUE(is_seen(mutant, program, scenario));
    ++swapped;
  }
  EXPECT_GT(swapped, 0);
}

// One row up or down, where the tensor has one.
bool shift(Region& region, const Tensor& tensor) {
  if (region.first_row + region.num_rows < tensor.rows) {
    ++region.first_row;
    return true;
  }
  if (region.first_row > 0) {
    --region.first_row;
    return true;
  }
  return false;
}

// The verifier need not see that a task reads other rows of an input: all of them are there.
TEST_P(EqualityMutationTest, RegionsOffByARow) {
  const Scenario scenario = small();
  const Program program = build(GetParam(), scenario);
  const size_t warnings = verify(program).warnings.size();
  int shifted = 0;
  Program mutant = program;
  for (Task& task : mutant.tasks) {
    for (std::vector<Region>* regions : {&task.reads, &task.writes}) {
      for (Region& region : *regions) {
        const Region kept = region;
        const Tensor& tensor = program.tensors[static_cast<size_t>(region.tensor)];
        if (!shift(region, tensor)) {
          continue;
        }
        SCOPED_TRACE(task.name + (regions == &task.reads ? " reads " : " writes ") + tensor.name);
        EXPECT_TRUE(tensor.input || is_flagged(mutant, warnings));
        EXPECT_TRUE(is_seen(mutant, program, scenario));
        region = kept;
        ++shifted;
      }
    }
  }
  EXPECT_GT(shifted, 10);
}

INSTANTIATE_TEST_SUITE_P(
    Schedules,
    EqualityMutationTest,
    ::testing::Values("tutel", "fsmoe", "parm_baseline", "parm_s1", "parm_s2", "sp_moe"),
    [](const auto& parameter) { return std::string(parameter.param); });

}  // namespace
}  // namespace moesim
