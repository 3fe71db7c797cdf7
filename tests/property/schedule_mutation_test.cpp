// For every schedule: what a mutation breaks, the verifier names. Small Programs of 8 ranks, so
// that every derived wait can be tried.

#include <algorithm>

#include <gtest/gtest.h>

#include "sim/base/random.h"
#include "sim/program/verifier.h"
#include "tests/property/program_mutants.h"
#include "tests/unit/schedule/small_scenario.h"

namespace moesim {
namespace {

using testing::degrees;
using testing::small_scenario;

// The same in every pass and layer, different by pass, and different by layer, as far as the
// schedule has such degrees.
std::vector<Degrees> degrees_to_try(const std::string& schedule, const Scenario& scenario) {
  if (schedule == "sp_moe") {
    return {degrees(scenario, 1, 1), degrees(scenario, 2, 2, 4), degrees(scenario, 6, 6, 3)};
  }
  if (schedule == "fsmoe" || schedule == "fsmoe_no_iio") {
    return {degrees(scenario, 1, 1),
            degrees(scenario, 2, 3),
            degrees(scenario, 4, 2),
            Degrees{{2, 3}, {4, 1}, 1}};
  }
  return {degrees(scenario, 1, 1), degrees(scenario, 3, 3), Degrees{{2, 3}, {2, 3}, 1}};
}

// With dropped tokens; with buffers padded to the degrees; with unequal routing, nothing dropped
// and everything recomputed.
std::vector<Scenario> scenarios_to_try() {
  Scenario plain = small_scenario();
  plain.model.optimizer = OptimizerAlgorithm::kSgd;
  Scenario padded = plain;
  padded.model.pad_capacity = true;
  Scenario skewed = plain;
  skewed.routing.kind = RoutingKind::kZipf;
  skewed.routing.zipf_exponent = 1;
  skewed.model.capacity_factor.reset();
  skewed.model.recompute = Recompute::kFull;
  return {plain, padded, skewed};
}

std::vector<Program> programs(const std::string& schedule) {
  std::vector<Program> programs;
  for (const Scenario& scenario : scenarios_to_try()) {
    for (const Degrees& chosen : degrees_to_try(schedule, scenario)) {
      programs.push_back(build_schedule(schedule, scenario, chosen, unit_evaluator()));
    }
  }
  return programs;
}

// True when a problem names both tasks.
bool names_both(const Verdict& verdict, int first, int second) {
  return std::any_of(verdict.problems.begin(), verdict.problems.end(), [&](const Problem& problem) {
    const auto has = [&problem](int task) {
      return std::find(problem.tasks.begin(), problem.tasks.end(), task) != problem.tasks.end();
    };
    return has(first) && has(second);
  });
}

class MutationTest : public ::testing::TestWithParam<std::string> {};

TEST_P(MutationTest, EveryDerivedWaitIsNeeded) {
  int deleted = 0;
  for (Program& program : programs(GetParam())) {
    ASSERT_TRUE(verify(program).ok());
    for (size_t task = 0; task < program.tasks.size(); ++task) {
      const std::vector<int> waits = program.tasks[task].waits;
      for (const int wait : waits) {
        auto& changed = program.tasks[task].waits;
        changed.erase(std::find(changed.begin(), changed.end(), wait));
        EXPECT_TRUE(names_both(verify(program), wait, static_cast<int>(task)))
            << program.tasks[task].name << " without its wait for "
            << program.tasks[static_cast<size_t>(wait)].name;
        changed = waits;
        ++deleted;
      }
    }
  }
  EXPECT_GT(deleted, 20);
}

TEST_P(MutationTest, NeedlessWaitsAreNoProblem) {
  constexpr uint64_t kSeed = 20260105;
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  Random random(kSeed);
  for (Program& program : programs(GetParam())) {
    for (int trial = 0; trial < 20; ++trial) {
      const auto last = static_cast<int64_t>(program.tasks.size()) - 1;
      const auto later = static_cast<size_t>(random.uniform_int(1, last));
      const int earlier = static_cast<int>(random.uniform_int(0, static_cast<int>(later) - 1));
      auto& waits = program.tasks[later].waits;
      if (std::find(waits.begin(), waits.end(), earlier) == waits.end()) {
        waits.insert(std::lower_bound(waits.begin(), waits.end(), earlier), earlier);
      }
    }
    EXPECT_TRUE(verify(program).ok());
  }
}

// Regions of inputs are left alone: every row of an input is there from the start, so that reading
// the wrong one is an error of meaning, not of order. Where the rows that a shifted region reads
// happen to be ready, the row that nothing reads any more is what gives it away.
TEST_P(MutationTest, ARegionShiftedByARowIsCaught) {
  for (Program& program : programs(GetParam())) {
    const size_t warnings = verify(program).warnings.size();
    for (Task& task : program.tasks) {
      for (std::vector<Region>* regions : {&task.reads, &task.writes}) {
        for (Region& region : *regions) {
          if (program.tensors[static_cast<size_t>(region.tensor)].input) {
            continue;
          }
          ++region.first_row;
          const Verdict verdict = verify(program);
          EXPECT_FALSE(verdict.ok() && verdict.warnings.size() == warnings)
              << task.name << (regions == &task.reads ? " reads " : " writes ")
              << program.tensors[static_cast<size_t>(region.tensor)].name;
          --region.first_row;
        }
      }
    }
  }
}

// Neighbours of one stream whose order protects data change places; what waited for either still
// waits for the same task.
TEST_P(MutationTest, TwoDependentTasksSwappedAreCaught) {
  int swapped = 0;
  for (const Program& program : programs(GetParam())) {
    const size_t warnings = verify(program).warnings.size();
    for (const auto& [earlier, later] : testing::dependent_neighbours(program)) {
      const Verdict verdict = verify(testing::with_tasks_swapped(program, earlier, later));
      EXPECT_FALSE(verdict.ok() && verdict.warnings.size() == warnings)
          << program.tasks[static_cast<size_t>(later)].name << " before "
          << program.tasks[static_cast<size_t>(earlier)].name;
      ++swapped;
    }
  }
  EXPECT_GT(swapped, 0);
}

bool names_one(const Problem& problem, int first, int second) {
  return std::any_of(problem.tasks.begin(), problem.tasks.end(), [&](int task) {
    return task == first || task == second;
  });
}

// Two collectives of a communicator, up to kReach places apart, change places on one role; the
// other keeps the Program's order. Where one needs the other, its rows or its waits give it away
// before the communicator does.
TEST_P(MutationTest, CollectivesInAnotherOrderOnOneRoleAreCaught) {
  constexpr size_t kReach = 4;
  int swapped = 0;
  for (const Program& program : programs(GetParam())) {
    const Program split = testing::with_two_roles(program);
    ASSERT_TRUE(verify(split).ok());
    for (const auto& [communicator, tasks] : testing::communicators(split)) {
      for (size_t i = 0; i < tasks.size(); ++i) {
        for (size_t j = i + 1; j < std::min(tasks.size(), i + 1 + kReach); ++j) {
          const Verdict verdict = verify(testing::with_tasks_swapped(split, tasks[i], tasks[j]));
          EXPECT_TRUE(std::any_of(
              verdict.problems.begin(),
              verdict.problems.end(),
              [&](const Problem& problem) { return names_one(problem, tasks[i], tasks[j]); }))
              << split.tasks[static_cast<size_t>(tasks[j])].name << " before "
              << split.tasks[static_cast<size_t>(tasks[i])].name;
          ++swapped;
        }
      }
    }
  }
  EXPECT_GT(swapped, 50);
}

INSTANTIATE_TEST_SUITE_P(AllSchedules,
                         MutationTest,
                         ::testing::ValuesIn(schedule_names()),
                         [](const auto& parameter) { return parameter.param; });

}  // namespace
}  // namespace moesim
