// What `simulate --ablate` compares a schedule's placement of the dense gradient with.
#include <gtest/gtest.h>

#include "sim/program/verifier.h"
#include "sim/schedule/schedule.h"
#include "tests/unit/schedule/small_scenario.h"

namespace moesim {
namespace {

using testing::degrees;
using testing::small_scenario;

std::optional<Program> serial(const std::string& schedule) {
  const Scenario scenario = small_scenario();
  return build_with_serial_gradient(schedule, scenario, degrees(scenario, 2, 2), unit_evaluator());
}

// Indices of the layers whose gradient each AllReduce follows, in launch order.
std::vector<int> reduced_layers(const Program& program) {
  std::vector<int> layers;
  for (const Task& task : program.tasks) {
    if (task.kind == "gradient_all_reduce") {
      layers.push_back(task.layer);
    }
  }
  return layers;
}

TEST(SerialGradientTest, EachLayerIsReducedOnceFromTheLastOn) {
  for (const char* schedule : {"tutel_improved", "lina", "fsmoe_no_iio", "fsmoe"}) {
    const std::optional<Program> program = serial(schedule);
    ASSERT_TRUE(program.has_value()) << schedule;
    EXPECT_EQ(reduced_layers(*program), (std::vector<int>{1, 0})) << schedule;
    EXPECT_TRUE(verify(*program).ok()) << schedule;
  }
}

TEST(SerialGradientTest, SchedulesThatReduceSeriallyHaveNoOther) {
  for (const char* schedule : {"deepspeed_moe", "tutel", "pipemoe", "sp_moe", "parm", "parm_s1"}) {
    EXPECT_FALSE(serial(schedule).has_value()) << schedule;
  }
}

}  // namespace
}  // namespace moesim
