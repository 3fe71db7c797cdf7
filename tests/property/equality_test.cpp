// What a schedule's Program computes equals an unpartitioned model that takes the same capacity
// domains: bit for bit in exact mode, whatever the degrees, the routing and the layout of ranks;
// within a tolerance on real data.
#include "kernels/reference/equality.h"

#include <gtest/gtest.h>

#include "sim/cli/validate/equality_cases.h"
#include "sim/schedule/unit_evaluator.h"
#include "tests/property/random_model.h"

namespace moesim {
namespace {

using validation::EqualityCase;

// Relative norm. FP32 has 24 bits; sums of up to a few hundred terms in another order, through two
// layers and back, lose four or five of them.
constexpr double kRealTolerance = 1e-5;

class EqualityTest : public ::testing::TestWithParam<std::string> {};

TEST_P(EqualityTest, EveryDegreeRoutingAndLayout) {
  for (const EqualityCase& trial : validation::equality_cases(GetParam())) {
    const auto& [schedule, load, scenario, degrees] = trial;
    SCOPED_TRACE(::testing::Message()
                 << to_string(load) << ", " << validation::describe(scenario, degrees));
    const Program program = build_schedule(schedule, scenario, degrees, unit_evaluator());
    const ComparedRun run = run_beside_reference(program, program, scenario, Rounding::kExact);
    ASSERT_EQ(first_difference(run.actual, run.expected, 0), "");
  }
}

TEST_P(EqualityTest, RandomModels) {
  constexpr uint64_t kSeed = 20260301;
  constexpr int kNumModels = 40;
  for (uint64_t trial = 0; trial < kNumModels; ++trial) {
    Random random(kSeed, trial);
    const Scenario scenario = testing::random_scenario(GetParam(), random);
    const Degrees degrees = testing::random_degrees(GetParam(), scenario, random);
    SCOPED_TRACE(::testing::Message() << "seed " << kSeed << ", trial " << trial << ": "
                                      << validation::describe(scenario, degrees));
    const Program program = build_schedule(GetParam(), scenario, degrees, unit_evaluator());
    const ComparedRun run = run_beside_reference(program, program, scenario, Rounding::kExact);
    ASSERT_EQ(first_difference(run.actual, run.expected, 0), "");
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
    const Degrees degrees = validation::degrees_to_try(GetParam(), scenario).back();
    SCOPED_TRACE(::testing::Message() << "seed " << kSeed << ", trial " << trial << ": "
                                      << validation::describe(scenario, degrees));
    const Program program = build_schedule(GetParam(), scenario, degrees, unit_evaluator());
    const ComparedRun run = run_beside_reference(program, program, scenario, Rounding::kOff);
    EXPECT_EQ(first_difference(run.actual, run.expected, kRealTolerance), "");
  }
}

INSTANTIATE_TEST_SUITE_P(AllSchedules,
                         EqualityTest,
                         ::testing::ValuesIn(schedule_names()),
                         [](const auto& parameter) { return parameter.param; });

}  // namespace
}  // namespace moesim
