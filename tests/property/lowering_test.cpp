// What a device is told to do for a Program equals what the CPU backend computes: every buffer of
// every rank, bit for bit in FP32, for all schedules, degrees, routings and layouts; whatever the
// order of a kernel's blocks. In BF16 it is near.
#include <algorithm>

#include <gtest/gtest.h>

#include "kernels/inputs.h"
#include "kernels/sequential_executor.h"
#include "sim/cli/validate/equality_cases.h"
#include "sim/schedule/unit_evaluator.h"
#include "tests/property/random_model.h"
#include "tests/support/lowered_run.h"

namespace moesim {
namespace {

using testing::BlockOrder;
using testing::LoweredOptions;
using validation::EqualityCase;

// The first buffer that differs in a bit.
std::string first_difference(const TensorStore& actual, const TensorStore& expected) {
  const Program& program = expected.program();
  for (int tensor = 0; tensor < static_cast<int>(program.tensors.size()); ++tensor) {
    for (const int rank : expected.ranks()) {
      const auto left = actual.contents(rank, tensor);
      const auto right = expected.contents(rank, tensor);
      const auto at = std::mismatch(left.begin(), left.end(), right.begin()).first;
      if (at != left.end()) {
        return program.tensors[static_cast<size_t>(tensor)].name + " on rank " +
               std::to_string(rank) + " at byte " + std::to_string(at - left.begin());
      }
    }
  }
  return "";
}

std::string compare(const Program& program, InputData data, const LoweredOptions& options) {
  const RowMap map(program);
  TensorStore expected(program);
  fill_inputs(data, expected);
  TensorStore actual = expected;
  run_in_launch_order(map, options.rounding, expected);
  run_lowered(map, options, actual);
  return first_difference(actual, expected);
}

class LoweringTest : public ::testing::TestWithParam<std::string> {};

TEST_P(LoweringTest, EveryDegreeRoutingAndLayoutBitForBit) {
  int number = 0;
  for (const EqualityCase& trial : validation::equality_cases(GetParam())) {
    const auto& [schedule, load, scenario, degrees] = trial;
    SCOPED_TRACE(::testing::Message()
                 << to_string(load) << ", " << validation::describe(scenario, degrees));
    LoweredOptions options;
    options.order = static_cast<BlockOrder>(number % 3);
    options.members_apart = number % 2 == 1;
    const Program program = build_schedule(schedule, scenario, degrees, unit_evaluator());
    ASSERT_EQ(compare(program, InputData::kInteger, options), "");
    ++number;
  }
}

// Gates, SwiGLU, grouped heads, masks, recomputation, Adam, padding.
TEST_P(LoweringTest, RandomModelsBitForBit) {
  constexpr uint64_t kSeed = 20260501;
  constexpr int kNumModels = 40;
  for (uint64_t trial = 0; trial < kNumModels; ++trial) {
    Random random(kSeed, trial);
    const Scenario scenario = testing::random_scenario(GetParam(), random);
    const Degrees degrees = validation::degrees_to_try(GetParam(), scenario).back();
    SCOPED_TRACE(::testing::Message() << "seed " << kSeed << ", trial " << trial << ": "
                                      << validation::describe(scenario, degrees));
    const Program program = build_schedule(GetParam(), scenario, degrees, unit_evaluator());
    LoweredOptions options;
    options.order = static_cast<BlockOrder>(trial % 3);
    ASSERT_EQ(compare(program, InputData::kInteger, options), "");
    options.rounding = Rounding::kOff;
    EXPECT_EQ(compare(program, InputData::kReal, options), "") << "real data";
  }
}

INSTANTIATE_TEST_SUITE_P(AllSchedules,
                         LoweringTest,
                         ::testing::ValuesIn(schedule_names()),
                         [](const auto& parameter) { return parameter.param; });

}  // namespace
}  // namespace moesim
