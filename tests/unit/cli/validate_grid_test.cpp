// The grid that FSMoE's averages are recomputed on, and how a layer's time is read.
#include <gtest/gtest.h>

#include "sim/cli/validate/fsmoe_grid.h"
#include "sim/cli/validate/unrounded_degrees.h"
#include "sim/engine/simulate.h"

namespace moesim::validation {
namespace {

constexpr GridPoint kSmallPoint{1, 512, 1024, 2, std::nullopt, FeedForward::kSimple};

TEST(FsmoeGridTest, HasTheLayersOfTable4) {
  EXPECT_EQ(fsmoe_grid({512, 1024, 2048}).size() * kLayersPerPoint, 1458);
}

TEST(FsmoeGridTest, BuffersHaveWholeRows) {
  const Inputs testbed = load_inputs("scenarios/mixtral_testbed_a.txtpb");
  // T = ceil(2*1*(512/8)/6) = ceil(21.33) = 22: 22 / 21.33 = 1.03125.
  EXPECT_DOUBLE_EQ(rounding_of(scenario_at(kSmallPoint, testbed)), 0.03125);
}

TEST(FsmoeGridTest, AttentionCostsFourKernelsAndTwiceThatBackward) {
  const Inputs testbed = load_inputs("scenarios/mixtral_testbed_b.txtpb");
  const Scenario scenario = scenario_at(kSmallPoint, testbed);
  for (const FixedKind& kind : published_costs(scenario, testbed.profile)) {
    if (kind.kind == "attention") {
      // (4*512*1024^2 + 2*512^2*1024) / 4 = 671,088,640 multiply-adds of 2 * 88.4e-15 s, after
      // 4 * 92.4 us: 369.6 us + 118.648 us.
      EXPECT_NEAR(kind.forward.seconds(), 488.2485e-6, 1e-9);
      EXPECT_EQ(kind.backward, 2 * kind.forward);
    } else {
      EXPECT_EQ(kind.forward + kind.backward, Time::zero()) << kind.kind;
    }
  }
}

// Everything is serial: one more layer takes as long as its tasks together.
TEST(LayerTimeTest, ASerialLayerTakesTheSumOfItsTasks) {
  const Inputs testbed = load_inputs("scenarios/mixtral_testbed_b.txtpb");
  Scenario scenario = scenario_at(kSmallPoint, testbed);
  const auto costs = published_costs(scenario, testbed.profile);
  const Evaluator evaluator = fixed_kinds_evaluator(testbed.cluster, testbed.profile, costs);
  const Time layer = searched_layer_time("deepspeed_moe", scenario, evaluator);

  scenario.model.layers = 1;
  const Program program =
      build_schedule("deepspeed_moe", scenario, Degrees::uniform(1, 1, 1), evaluator);
  const std::vector<Time> durations = evaluator.durations(program);
  Time sum;
  for (std::size_t i = 0; i < durations.size(); ++i) {
    sum += program.tasks[i].pass == Pass::kUpdate ? Time::zero() : durations[i];
  }
  EXPECT_EQ(layer, sum);
}

// What T(3) - T(2) rests on.
TEST(LayerTimeTest, FromTwoLayersOnEachFurtherOneAddsTheSame) {
  const Inputs testbed = load_inputs("scenarios/mixtral_testbed_b.txtpb");
  Scenario scenario = scenario_at(kSmallPoint, testbed);
  const auto costs = published_costs(scenario, testbed.profile);
  const Evaluator evaluator = fixed_kinds_evaluator(testbed.cluster, testbed.profile, costs);
  for (const char* schedule : {"tutel", "tutel_improved", "fsmoe_no_iio", "fsmoe"}) {
    const auto end = [&](int layers) {
      scenario.model.layers = layers;
      const Degrees degrees = Degrees::uniform(layers, 2, 2);
      return evaluator.evaluate(build_schedule(schedule, scenario, degrees, evaluator)).total;
    };
    EXPECT_NEAR(ratio(end(7) - end(6), end(3) - end(2)), 1, 1e-9) << schedule;
  }
}

TEST(LayerTimeTest, ForwardAloneIsTheForwardPart) {
  const Inputs testbed = load_inputs("scenarios/mixtral_testbed_b.txtpb");
  const Scenario scenario = scenario_at(kSmallPoint, testbed);
  const Evaluator evaluator = fixed_kinds_evaluator(testbed.cluster, testbed.profile, {});
  const Time both = searched_layer_time("tutel", scenario, evaluator);
  const Time forward = searched_layer_time("tutel", scenario, forward_only(evaluator));
  EXPECT_GT(forward, Time::zero());
  EXPECT_LT(forward, both);
}

// The paper's model of testbed B has 918 layers with different best degrees in 1..8; the paper
// counts 912.
TEST(UnroundedDegreesTest, CountsTheLayersWithDifferentDegrees) {
  const Inputs testbed = load_inputs("scenarios/mixtral_testbed_b.txtpb");
  int num_different = 0;
  for (const GridPoint& point : fsmoe_grid({256, 512, 1024})) {
    const BestDegrees best = best_unrounded_degrees(scenario_at(point, testbed), testbed.profile);
    num_different += best.forward != best.backward ? kLayersPerPoint : 0;
  }
  EXPECT_EQ(num_different, 918);
}

}  // namespace
}  // namespace moesim::validation
