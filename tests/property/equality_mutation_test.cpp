// What makes the equality tests fail: a wrong reference, two dependent tasks swapped, a region off
// by a row; and the verifier names what it can see of each before anything runs. Waits taken away
// need real concurrency: removed_wait_test.cpp.
#include <gtest/gtest.h>

#include "kernels/reference/equality.h"
#include "sim/base/error.h"
#include "sim/program/verifier.h"
#include "tests/property/equality_model.h"
#include "tests/property/program_mutants.h"

namespace moesim {
namespace {

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
  const Scenario scenario = testing::equality_model();
  const Program program = testing::two_chunks(GetParam(), scenario);
  ComparedRun run = run_beside_reference(program, program, scenario, Rounding::kExact);
  ASSERT_EQ(first_difference(run.actual, run.expected, 0), "");
  run.expected.gradients[0].w1[0].values[3] += 1.0F / 64;  // the smallest step of a product
  EXPECT_NE(first_difference(run.actual, run.expected, 0), "");
}

TEST_P(EqualityMutationTest, DependentTasksSwapped) {
  const Scenario scenario = testing::equality_model();
  const Program program = testing::two_chunks(GetParam(), scenario);
  const size_t warnings = verify(program).warnings.size();
  int swapped = 0;
  for (const auto& [earlier, later] : testing::dependent_neighbours(program)) {
    SCOPED_TRACE(program.tasks[static_cast<size_t>(later)].name + " before " +
                 program.tasks[static_cast<size_t>(earlier)].name);
    const Program mutant = testing::with_tasks_swapped(program, earlier, later);
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
  const Scenario scenario = testing::equality_model();
  const Program program = testing::two_chunks(GetParam(), scenario);
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
