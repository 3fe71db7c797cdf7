// The programs of tests/unit/program/example_programs.h, broken in every place in turn: each break
// is found and named.
#include <algorithm>
#include <string>

#include <gmock/gmock.h>

#include "sim/program/verifier.h"
#include "tests/property/program_mutants.h"
#include "tests/property/program_oracle.h"
#include "tests/unit/program/example_programs.h"

namespace moesim {
namespace {

using ::testing::ElementsAre;
using testing::ExampleSizes;
using testing::fsmoe_program;
using testing::parm_s2_program;
using testing::ProgramOracle;
using ::testing::SizeIs;

// FSMoE with every kind of degree, uneven chunks of T = 5 and r_f != r_b; and Parm S2.
std::vector<Program> examples() {
  std::vector<Program> programs;
  for (const auto& [forward, backward] : {std::pair{1, 1}, {2, 3}, {3, 2}, {4, 4}, {5, 1}}) {
    ExampleSizes sizes;
    sizes.layers = 2;
    sizes.forward_degree = forward;
    sizes.backward_degree = backward;
    programs.push_back(fsmoe_program(sizes));
  }
  programs.push_back(parm_s2_program({}));
  return programs;
}

TEST(ProgramMutationTest, EveryDerivedWaitIsMissed) {
  for (const Program& program : examples()) {
    for (int task = 0; task < static_cast<int>(program.tasks.size()); ++task) {
      for (const int wait : program.tasks[task].waits) {
        SCOPED_TRACE(program.tasks[task].name + " no longer waits for " + program.tasks[wait].name);
        Program broken = program;
        std::erase(broken.tasks[task].waits, wait);
        const Verdict verdict = verify(broken);
        ASSERT_THAT(verdict.problems, SizeIs(1));
        EXPECT_EQ(verdict.problems[0].kind, ProblemKind::kRace);
        EXPECT_THAT(verdict.problems[0].tasks, ElementsAre(wait, task));
        EXPECT_THAT(
            verdict.problems[0].message,
            ::testing::HasSubstr("task '" + program.tasks[task].name + "' must wait for task '" +
                                 program.tasks[wait].name + "'"));
      }
    }
  }
}

TEST(ProgramMutationTest, ARegionShiftedByARowIsFound) {
  for (const Program& program : examples()) {
    for (std::size_t task = 0; task < program.tasks.size(); ++task) {
      const std::size_t num_reads = program.tasks[task].reads.size();
      const std::size_t num_regions = num_reads + program.tasks[task].writes.size();
      for (std::size_t i = 0; i < num_regions; ++i) {
        for (const int shift : {-1, 1}) {
          SCOPED_TRACE(program.tasks[task].name + ", region " + std::to_string(i));
          Program broken = program;
          Task& changed = broken.tasks[task];
          Region& region = i < num_reads ? changed.reads[i] : changed.writes[i - num_reads];
          region.first_row += shift;
          EXPECT_FALSE(verify(broken).ok());
        }
      }
    }
  }
}

bool waits_for_later(const Program& program) {
  for (int task = 0; task < static_cast<int>(program.tasks.size()); ++task) {
    const std::vector<int>& waits = program.tasks[task].waits;
    if (!waits.empty() && waits.back() >= task) {
      return true;
    }
  }
  return false;
}

// Some swaps change nothing that matters; the oracle knows which.
TEST(ProgramMutationTest, TwoTasksSwappedAreFoundWhereItMatters) {
  int num_bad = 0;
  int num_good = 0;
  ExampleSizes sizes;
  sizes.forward_degree = 2;
  sizes.backward_degree = 3;
  for (const Program& program : {fsmoe_program(sizes), parm_s2_program({})}) {
    const auto num_tasks = static_cast<int>(program.tasks.size());
    for (int left = 0; left < num_tasks; ++left) {
      for (int right = left + 1; right < num_tasks; ++right) {
        SCOPED_TRACE(program.tasks[left].name + " and " + program.tasks[right].name);
        const Program broken = testing::with_tasks_swapped(program, left, right);
        const bool right_order = !waits_for_later(broken) && ProgramOracle(broken).ok();
        ASSERT_EQ(verify(broken).ok(), right_order);
        ++(right_order ? num_good : num_bad);
      }
    }
  }
  EXPECT_GT(num_bad, 10 * num_good);
  EXPECT_GT(num_good, 0);
}

// Two collectives of one role on one communicator change places; the other role keeps their order.
TEST(ProgramMutationTest, CollectivesInAnotherOrderOnOneRoleAreFound) {
  ExampleSizes sizes;
  sizes.forward_degree = 2;
  sizes.backward_degree = 3;
  const Program roles = testing::with_two_roles(fsmoe_program(sizes));
  EXPECT_TRUE(verify(roles).ok());
  int num_pairs = 0;
  for (const auto& [communicator, tasks] : testing::communicators(roles)) {
    for (size_t i = 0; i < tasks.size(); ++i) {
      for (size_t j = i + 1; j < tasks.size(); ++j) {
        SCOPED_TRACE(roles.tasks[tasks[i]].name + " and " + roles.tasks[tasks[j]].name);
        const Verdict verdict = verify(testing::with_tasks_swapped(roles, tasks[i], tasks[j]));
        EXPECT_FALSE(verdict.ok());
        ++num_pairs;
      }
    }
  }
  EXPECT_GT(num_pairs, 20);
}

}  // namespace
}  // namespace moesim
