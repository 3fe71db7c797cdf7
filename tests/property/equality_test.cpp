// What a schedule's Program computes equals an unpartitioned model that takes the same capacity
// domains: bit for bit in exact mode, whatever the degrees, the routing and the layout of ranks;
// within a tolerance on real data.
#include "tests/property/equality.h"

#include <gtest/gtest.h>

#include "tests/property/equality_cases.h"
#include "tests/unit/schedule/small_scenario.h"

namespace moesim {
namespace {

using testing::ComparedRun;
using testing::Load;
using testing::unit_evaluator;

// Relative norm. FP32 has 24 bits; sums of up to a few hundred terms in another order, through two
// layers and back, lose four or five of them.
constexpr double kRealTolerance = 1e-5;

class EqualityTest : public ::testing::TestWithParam<std::string> {};

TEST_P(EqualityTest, EveryDegreeRoutingAndLayout) {
  for (const testing::Layout& layout : testing::layouts()) {
    if (!testing::can_run(GetParam(), layout.parallel)) {
      continue;
    }
    for (const Load load : {Load::kBalanced, Load::kSkewed, Load::kDrops}) {
      const Scenario scenario = testing::equality_scenario(layout.parallel, load);
      for (const Degrees& degrees : testing::degrees_to_try(GetParam(), scenario)) {
        SCOPED_TRACE(::testing::Message()
                     << to_string(load) << ", " << testing::describe(scenario, degrees));
        const Program program = build_schedule(GetParam(), scenario, degrees, unit_evaluator());
        const ComparedRun run = testing::run_both(program, program, scenario, Rounding::kExact);
        ASSERT_EQ(testing::first_difference(run.actual, run.expected, 0), "");
      }
    }
  }
}

TEST_P(EqualityTest, RandomModels) {
  constexpr uint64_t kSeed = 20260301;
  constexpr int kNumModels = 40;
  for (uint64_t trial = 0; trial < kNumModels; ++trial) {
    Random random(kSeed, trial);
    const Scenario scenario = testing::random_scenario(GetParam(), random);
    const auto all = testing::degrees_to_try(GetParam(), scenario);
    const auto last = static_cast<int64_t>(all.size()) - 1;
    const Degrees& degrees = all[static_cast<size_t>(random.uniform_int(0, last))];
    SCOPED_TRACE(::testing::Message() << "seed " << kSeed << ", trial " << trial << ": "
                                      << testing::describe(scenario, degrees));
    const Program program = build_schedule(GetParam(), scenario, degrees, unit_evaluator());
    const ComparedRun run = testing::run_both(program, program, scenario, Rounding::kExact);
    ASSERT_EQ(testing::first_difference(run.actual, run.expected, 0), "");
  }
}

// Choices come from a routing: by scores, a difference in the last bit may send a token elsewhere.
TEST_P(EqualityTest, RealDataAgreesWithinTolerance) {
  constexpr uint64_t kSeed = 20260302;
  constexpr int kNumModels = 12;
  for (uint64_t trial = 0; trial < kNumModels; ++trial) {
    Random random(kSeed, trial);
    Scenario scenario = testing::random_scenario(GetParam(), random);
    scenario.routing.kind = RoutingKind::kZipf;
    scenario.routing.zipf_exponent = 1;
    if (scenario.model.gate == GateKind::kExpertChoice) {
      scenario.model.gate = GateKind::kGshard;
    }
    const Degrees degrees = testing::degrees_to_try(GetParam(), scenario).back();
    SCOPED_TRACE(::testing::Message() << "seed " << kSeed << ", trial " << trial << ": "
                                      << testing::describe(scenario, degrees));
    const Program program = build_schedule(GetParam(), scenario, degrees, unit_evaluator());
    const ComparedRun run = testing::run_both(program, program, scenario, Rounding::kOff);
    EXPECT_EQ(testing::first_difference(run.actual, run.expected, kRealTolerance), "");
  }
}

INSTANTIATE_TEST_SUITE_P(AllSchedules,
                         EqualityTest,
                         ::testing::ValuesIn(schedule_names()),
                         [](const auto& parameter) { return parameter.param; });

}  // namespace
}  // namespace moesim
