// For every schedule: what a mutation breaks, the verifier names. Small Programs of 8 ranks, so
// that every derived wait can be tried.

#include <algorithm>

#include <gtest/gtest.h>

#include "sim/base/random.h"
#include "sim/program/verifier.h"
#include "tests/unit/schedule/small_scenario.h"

namespace moesim {
namespace {

using testing::degrees;
using testing::small_scenario;
using testing::unit_evaluator;

std::vector<Degrees> degrees_to_try(const std::string& schedule, const Scenario& scenario) {
  if (schedule == "sp_moe") {
    return {degrees(scenario, 1, 1), degrees(scenario, 2, 2, 4), degrees(scenario, 6, 6, 3)};
  }
  if (schedule == "fsmoe" || schedule == "fsmoe_no_iio") {
    return {degrees(scenario, 1, 1), degrees(scenario, 2, 3), degrees(scenario, 4, 2)};
  }
  return {degrees(scenario, 1, 1), degrees(scenario, 3, 3)};
}

std::vector<Program> programs(const std::string& schedule) {
  std::vector<Program> programs;
  for (const bool skewed : {false, true}) {
    Scenario scenario = small_scenario();
    scenario.model.optimizer = OptimizerAlgorithm::kSgd;
    if (skewed) {
      scenario.routing.kind = RoutingKind::kZipf;
      scenario.routing.zipf_exponent = 1;
      scenario.model.capacity_factor.reset();
      scenario.model.recompute = Recompute::kFull;
    }
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
    const Verdict clean = verify(program);
    ASSERT_TRUE(clean.ok() && clean.warnings.empty());
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
    for (Task& task : program.tasks) {
      for (std::vector<Region>* regions : {&task.reads, &task.writes}) {
        for (Region& region : *regions) {
          if (program.tensors[static_cast<size_t>(region.tensor)].input) {
            continue;
          }
          ++region.first_row;
          const Verdict verdict = verify(program);
          EXPECT_FALSE(verdict.ok() && verdict.warnings.empty())
              << task.name << (regions == &task.reads ? " reads " : " writes ")
              << program.tensors[static_cast<size_t>(region.tensor)].name;
          --region.first_row;
        }
      }
    }
  }
}

// Two tasks of one stream whose order protects data change places; what waits for either still
// waits for the same task.
TEST_P(MutationTest, TwoDependentTasksSwappedAreCaught) {
  int swapped = 0;
  for (const Program& program : programs(GetParam())) {
    std::vector<int> last_on_stream(program.streams.size(), kNone);
    for (size_t task = 0; task < program.tasks.size(); ++task) {
      const auto stream = static_cast<size_t>(program.tasks[task].stream);
      const int previous = std::exchange(last_on_stream[stream], static_cast<int>(task));
      if (previous == kNone) {
        continue;
      }
      Program mutant = program;
      std::swap(mutant.tasks[task], mutant.tasks[static_cast<size_t>(previous)]);
      for (Task& changed : mutant.tasks) {
        for (int& wait : changed.waits) {
          if (wait == previous) {
            wait = static_cast<int>(task);
          } else if (wait == static_cast<int>(task)) {
            wait = previous;
          }
        }
        std::sort(changed.waits.begin(), changed.waits.end());
      }
      // Independent neighbours may swap; dependent ones write what the other reads.
      const auto touches = [&](const std::vector<Region>& writes,
                               const std::vector<Region>& reads) {
        return std::any_of(writes.begin(), writes.end(), [&](const Region& write) {
          return std::any_of(reads.begin(), reads.end(), [&](const Region& read) {
            return read.tensor == write.tensor && read.first_row == write.first_row &&
                   read.first_block == write.first_block;
          });
        });
      };
      if (touches(program.tasks[static_cast<size_t>(previous)].writes, program.tasks[task].reads)) {
        EXPECT_FALSE(verify(mutant).ok()) << program.tasks[task].name << " before "
                                          << program.tasks[static_cast<size_t>(previous)].name;
        ++swapped;
      }
    }
  }
  EXPECT_GT(swapped, 0);
}

INSTANTIATE_TEST_SUITE_P(AllSchedules,
                         MutationTest,
                         ::testing::ValuesIn(schedule_names()),
                         [](const auto& parameter) { return parameter.param; });

}  // namespace
}  // namespace moesim
