// The choice of degrees, with an evaluator whose times are a known function of the degrees.

#include <cstdlib>

#include <gtest/gtest.h>

#include "sim/base/error.h"
#include "tests/unit/schedule/small_scenario.h"

namespace moesim {
namespace {

using testing::small_scenario;

int count(const Program& program, const char* kind, Pass pass) {
  int tasks = 0;
  for (const Task& task : program.tasks) {
    tasks += task.kind == kind && task.pass == pass && task.layer == 0 ? 1 : 0;
  }
  return tasks;
}

Time units(int64_t count) {
  return Time::from_picoseconds(count);
}

// Best at r_f = 3 and r_b = 5: forward takes 100 + |r_f - 3|, backward 200 + |r_b - 5|.
Evaluator valley(int* evaluations = nullptr) {
  Evaluator evaluator = unit_evaluator();
  evaluator.evaluate = [evaluations](const Program& program) {
    if (evaluations != nullptr) {
      ++*evaluations;
    }
    const int forward = count(program, "dispatch", Pass::kForward);
    const int backward = count(program, "dispatch", Pass::kBackward);
    const Time end = units(100 + std::abs(forward - 3));
    const Time total = end + units(200 + std::abs(backward - 5));
    return Evaluation{end, total, total};
  };
  return evaluator;
}

// Buffers of the small scenario have T = ceil(2 * 1.25 * 8 / 4) = 5 rows; twice as many let eight
// chunks be told apart.
Scenario roomy_scenario() {
  Scenario scenario = small_scenario();
  scenario.model.capacity_factor = 2.5;
  return scenario;
}

TEST(PlanTest, SharedDegreeMinimisesTheSum) {
  // |r - 3| + |r - 5| is 2 for r = 3, 4, 5: the smallest wins, r = 4 is the runner-up.
  const Plan plan = plan_schedule("tutel", roomy_scenario(), Policy::kSearch, valley());
  EXPECT_EQ(plan.policy, "search");
  EXPECT_EQ(plan.degrees.forward, (std::vector<int>{3, 3}));
  EXPECT_EQ(plan.degrees.backward, (std::vector<int>{3, 3}));
  ASSERT_TRUE(plan.runner_up.has_value());
  EXPECT_EQ(plan.runner_up->degrees.forward.front(), 4);
  EXPECT_EQ(plan.runner_up->time, units(302));
}

TEST(PlanTest, SeparateDegreesAreFoundPassByPass) {
  int evaluations = 0;
  const Plan plan = plan_schedule("fsmoe", roomy_scenario(), Policy::kSearch, valley(&evaluations));
  EXPECT_EQ(plan.degrees.forward.front(), 3);
  EXPECT_EQ(plan.degrees.backward.back(), 5);
  // Eight degrees, the two best pairs as pairs, one candidate with degrees per layer.
  EXPECT_EQ(evaluations, 11);
}

// As in a valley whose pairs of different degrees lose ten units where the passes meet, which their
// passes alone do not show: estimates of 300 and 301 are 310 and 311; 302 at (3, 3), (4, 4) and
// (5, 5) hold.
TEST(PlanTest, AnEstimateIsNeverTakenUnsimulated) {
  Evaluator evaluator = unit_evaluator();
  evaluator.evaluate = [](const Program& program) {
    Evaluation evaluation = valley().evaluate(program);
    const bool same =
        count(program, "dispatch", Pass::kForward) == count(program, "dispatch", Pass::kBackward);
    evaluation.backward += units(same ? 0 : 10);
    evaluation.total += units(same ? 0 : 10);
    return evaluation;
  };
  const Plan plan = plan_schedule("fsmoe", roomy_scenario(), Policy::kSearch, evaluator);
  EXPECT_EQ(plan.degrees, Degrees::uniform(2, 3, 3));
  ASSERT_TRUE(plan.runner_up.has_value());
  EXPECT_EQ(plan.runner_up->degrees, Degrees::uniform(2, 4, 4));
  EXPECT_EQ(plan.runner_up->time, units(302));
}

TEST(PlanTest, GivenDegreesAreTaken) {
  Scenario scenario = roomy_scenario();
  scenario.degrees.forward = 2;
  scenario.degrees.backward = 4;
  const Plan plan = plan_schedule("fsmoe", scenario, Policy::kSearch, valley());
  EXPECT_EQ(plan.policy, "given");
  EXPECT_EQ(plan.degrees.forward, (std::vector<int>{2, 2}));
  EXPECT_EQ(plan.degrees.backward, (std::vector<int>{4, 4}));
  EXPECT_FALSE(plan.runner_up.has_value());
}

TEST(PlanTest, AnOpenDegreeIsSearchedBesideAGivenOne) {
  Scenario scenario = roomy_scenario();
  scenario.degrees.forward = 7;
  const Plan plan = plan_schedule("fsmoe", scenario, Policy::kSearch, valley());
  EXPECT_EQ(plan.degrees.forward.front(), 7);
  EXPECT_EQ(plan.degrees.backward.back(), 5);
}

TEST(PlanTest, DegreesPerLayerAreTaken) {
  Scenario scenario = roomy_scenario();
  scenario.degrees.forward_per_layer = {2, 3};
  scenario.degrees.backward_per_layer = {4, 1};
  const Plan plan = plan_schedule("fsmoe", scenario, Policy::kSearch, valley());
  EXPECT_EQ(plan.degrees.forward, (std::vector<int>{2, 3}));
  EXPECT_EQ(count(plan.program, "dispatch", Pass::kForward), 2);  // layer 0
  EXPECT_EQ(count(plan.program, "dispatch", Pass::kBackward), 4);
}

TEST(PlanTest, OneDegreeHoldsForBothPassesOfAScheduleThatHasOnlyOne) {
  Scenario scenario = roomy_scenario();
  scenario.degrees.forward = 4;
  EXPECT_EQ(plan_schedule("tutel", scenario, Policy::kSearch, valley()).degrees.backward.front(),
            4);
  scenario.degrees.backward = 2;
  EXPECT_THROW(plan_schedule("tutel", scenario, Policy::kSearch, valley()), Error);
}

TEST(PlanTest, WhatDoesNotFitIsNotChosen) {
  Evaluator evaluator = valley();
  evaluator.fits = [](const Program& program) {
    return count(program, "dispatch", Pass::kForward) >= 6;
  };
  // Of 6, 7, 8 the smallest is nearest to the valley.
  EXPECT_EQ(
      plan_schedule("tutel", roomy_scenario(), Policy::kSearch, evaluator).degrees.forward.front(),
      6);
}

TEST(PlanTest, APairThatDoesNotFitIsNotChosen) {
  // The smaller the degrees the faster; what fits has at least two chunks of attention and four of
  // the experts: of (4, 2), (6, 2), (8, 2), (6, 3), (4, 4), ... the first.
  const auto chunks = [](const Program& program) {
    return std::pair{count(program, "attention", Pass::kForward),
                     count(program, "dispatch", Pass::kForward)};
  };
  Evaluator evaluator = unit_evaluator();
  evaluator.evaluate = [chunks](const Program& program) {
    const auto [non_moe, moe] = chunks(program);
    const Time total = units(100 + 10 * non_moe + moe);
    return Evaluation{total, total, total};
  };
  evaluator.fits = [chunks](const Program& program) {
    const auto [non_moe, moe] = chunks(program);
    return non_moe >= 2 && moe >= 4;
  };
  const Plan plan = plan_schedule("sp_moe", roomy_scenario(), Policy::kSearch, evaluator);
  EXPECT_EQ(plan.degrees.forward.front(), 4);
  EXPECT_EQ(plan.degrees.non_moe, 2);
  EXPECT_TRUE(evaluator.fits(plan.program));
  ASSERT_TRUE(plan.runner_up.has_value());
  EXPECT_EQ(plan.runner_up->degrees.forward.front(), 6);
  EXPECT_EQ(plan.runner_up->time, units(126));
}

TEST(PlanTest, BesideGivenDegreesPerLayerWhatDoesNotFitIsNotChosen) {
  Scenario scenario = roomy_scenario();
  scenario.degrees.forward_per_layer = {2, 3};
  Evaluator evaluator = valley();  // fastest at five backward chunks
  evaluator.fits = [](const Program& program) {
    return count(program, "dispatch", Pass::kBackward) >= 7;
  };
  for (const char* schedule : {"fsmoe", "fsmoe_no_iio"}) {
    const Plan plan = plan_schedule(schedule, scenario, Policy::kSearch, evaluator);
    EXPECT_EQ(plan.degrees.forward, (std::vector<int>{2, 3})) << schedule;
    EXPECT_EQ(plan.degrees.backward, (std::vector<int>{7, 7})) << schedule;
    EXPECT_TRUE(evaluator.fits(plan.program)) << schedule;
  }
}

TEST(PlanTest, DegreesOfThePaperThatDoNotFitAreSearched) {
  Evaluator evaluator = unit_evaluator();  // whose closed form is least at one chunk
  evaluator.fits = [](const Program& program) {
    return count(program, "dispatch", Pass::kForward) >= 2;
  };
  for (const char* schedule : {"pipemoe", "fsmoe"}) {
    const Plan plan = plan_schedule(schedule, roomy_scenario(), Policy::kPaper, evaluator);
    EXPECT_EQ(plan.policy, "search") << schedule;
    EXPECT_TRUE(evaluator.fits(plan.program)) << schedule;
  }
}

TEST(PlanTest, WhereNothingFitsTheFastestOfAllIsTaken) {
  Evaluator evaluator = valley();
  evaluator.fits = [](const Program&) { return false; };
  const Plan plan = plan_schedule("tutel", roomy_scenario(), Policy::kSearch, evaluator);
  EXPECT_EQ(plan.degrees.forward.front(), 3);
  EXPECT_EQ(count(plan.program, "dispatch", Pass::kForward), 3);
}

// Buffers of T = 5 rows are cut into five chunks at most: degrees 6, 7 and 8 are 5 again.
TEST(PlanTest, WhatBuildsTheSameProgramIsSimulatedOnce) {
  int evaluations = 0;
  const Plan plan = plan_schedule("tutel", small_scenario(), Policy::kSearch, valley(&evaluations));
  EXPECT_EQ(evaluations, 5);
  EXPECT_EQ(plan.degrees.forward.front(), 3);
  EXPECT_EQ(plan.runner_up->degrees.forward.front(), 4);
}

TEST(PlanTest, SchedulesWithoutChunksHaveDegreeOne) {
  Scenario scenario = roomy_scenario();
  scenario.degrees.forward = 4;
  scenario.degrees.backward = 4;
  for (const char* schedule : {"deepspeed_moe", "parm_s1", "parm_s2", "parm_baseline"}) {
    const Plan plan = plan_schedule(schedule, scenario, Policy::kSearch, valley());
    EXPECT_EQ(plan.policy, "none") << schedule;
    EXPECT_EQ(plan.degrees.forward.front(), 1) << schedule;
  }
}

TEST(PlanTest, SequenceDegreesAreSearchedAsPairsThatDivide) {
  Evaluator evaluator = unit_evaluator();
  evaluator.evaluate = [](const Program& program) {
    // Best with four attention chunks and two MoE chunks.
    const int non_moe = count(program, "attention", Pass::kForward);
    const int moe = count(program, "dispatch", Pass::kForward);
    const Time total = units(100 + 10 * std::abs(non_moe - 4) + std::abs(moe - 2));
    return Evaluation{total, total, total};
  };
  const Plan plan = plan_schedule("sp_moe", roomy_scenario(), Policy::kSearch, evaluator);
  EXPECT_EQ(plan.degrees.non_moe, 4);
  EXPECT_EQ(plan.degrees.forward.front(), 2);
}

TEST(PlanTest, FullAttentionIsNotCutAlongTheSequence) {
  Scenario scenario = roomy_scenario();
  scenario.model.attention = AttentionMask::kFull;
  EXPECT_EQ(plan_schedule("sp_moe", scenario, Policy::kSearch, valley()).degrees.non_moe, 1);
  scenario.degrees.non_moe = 2;
  EXPECT_THROW(plan_schedule("sp_moe", scenario, Policy::kSearch, valley()), Error);
}

// What plan_schedule refuses is refused without costs, and nothing else.
TEST(PlanTest, WhatCannotBePlannedIsKnownWithoutCosts) {
  Scenario unequal = roomy_scenario();
  unequal.degrees.forward = 2;
  unequal.degrees.backward = 4;
  Scenario sequence = roomy_scenario();
  sequence.model.attention = AttentionMask::kFull;
  sequence.degrees.non_moe = 2;  // chunks, which full attention has not
  for (const Scenario& scenario : {roomy_scenario(), unequal, sequence}) {
    for (const std::string& schedule : schedule_names()) {
      const auto refuses = [](const auto& act) {
        try {
          act();
        } catch (const Error&) {
          return true;
        }
        return false;
      };
      EXPECT_EQ(refuses([&] { require_plannable(schedule, scenario); }),
                refuses([&] { plan_schedule(schedule, scenario, Policy::kSearch, valley()); }))
          << schedule;
    }
  }
  EXPECT_NO_THROW(require_plannable("fsmoe", unequal));
  EXPECT_THROW(require_plannable("tutel", unequal), Error);
  EXPECT_THROW(require_plannable("sp_moe", sequence), Error);
}

TEST(PlanTest, ParmTakesTheFasterOfItsTwo) {
  Evaluator evaluator = unit_evaluator();
  const auto favour_s2 = [](const Program& program) {
    const bool stepwise = count(program, "combine", Pass::kForward) > 1;
    const Time total = units(stepwise ? 10 : 20);
    return Evaluation{total, total, total};
  };
  evaluator.evaluate = favour_s2;
  const Plan plan = plan_schedule("parm", roomy_scenario(), Policy::kSearch, evaluator);
  EXPECT_EQ(plan.variant, "parm_s2");
  EXPECT_EQ(plan.runner_up->variant, "parm_s1");
  EXPECT_EQ(plan.runner_up->time, units(20));
}

TEST(PlanTest, PaperPolicyUsesTheClosedFormWhereThereIsOne) {
  // Every task takes a microsecond, so c = 2a + g + s = 4 and T(r) = max(4r, 4 + r): least at r = 1
  // in both passes.
  const Plan plan = plan_schedule("pipemoe", roomy_scenario(), Policy::kPaper, unit_evaluator());
  EXPECT_EQ(plan.policy, "paper");
  EXPECT_EQ(plan.degrees.forward.front(), 1);
  // SP-MoE's authors published no rule that we know: searched.
  EXPECT_EQ(plan_schedule("sp_moe", roomy_scenario(), Policy::kPaper, valley()).policy, "search");
}

}  // namespace
}  // namespace moesim
