// Kernels of all schedules, one behind the other on the fake CUDA: they leave the CPU backend's
// results, and every step is timed and counted.
#include <map>

#include <gtest/gtest.h>

#include "kernels/cuda/cuda_executor.h"
#include "tests/property/cuda_runs.h"
#include "tests/property/equality_model.h"
#include "tests/support/fake_cuda/fake_cuda.h"

namespace moesim {
namespace {

using testing::FakeCuda;

class KernelTimesTest : public ::testing::TestWithParam<std::string> {
 protected:
  static void add(const std::vector<DeviceStep>& steps, std::map<std::string, KernelTime>& sums) {
    for (const DeviceStep& step : steps) {
      KernelTime& sum = sums[name_of(step.action)];
      ++sum.count;
      sum.bytes += step.work.bytes;
      sum.flops += step.work.flops;
    }
  }

  // Of the Program as it is lowered, without addresses.
  static std::map<std::string, KernelTime> expected(const Program& program) {
    const DeviceScript script(program);
    LoweringSpace space(program, Storage::kFloat32);
    const DeviceProgram lowered = lower_program(script, Rounding::kExact, space);
    std::map<std::string, KernelTime> sums;
    for (const auto& rank : lowered.tasks) {
      for (const std::vector<DeviceStep>& steps : rank) {
        add(steps, sums);
      }
    }
    for (const CollectiveSteps& meeting : lowered.meetings) {
      for (const auto& phase : meeting.phases) {
        for (const std::vector<DeviceStep>& steps : phase) {
          add(steps, sums);
        }
      }
    }
    return sums;
  }

  const Program program_ = testing::two_chunks(GetParam(), testing::equality_model());
};

TEST_P(KernelTimesTest, EveryStepIsTimedAloneAndResultsAreRight) {
  const FakeCuda cuda({.kernel_time = Time::from_picoseconds(2'000'000)});
  CudaExecutor executor(program_, {.rounding = Rounding::kExact, .keeps_all = true});
  TensorStore tensors = testing::exact_inputs(program_);
  const std::vector<KernelTime> times = executor.time_kernels(tensors);
  EXPECT_EQ(testing::first_difference(tensors, testing::cpu_results(program_), false), "");

  const std::map<std::string, KernelTime> sums = expected(program_);
  ASSERT_EQ(times.size(), sums.size());
  for (const KernelTime& time : times) {
    SCOPED_TRACE(time.name);
    ASSERT_EQ(sums.count(time.name), 1U);
    EXPECT_EQ(time.count, sums.at(time.name).count);
    EXPECT_EQ(time.bytes, sums.at(time.name).bytes);
    EXPECT_EQ(time.flops, sums.at(time.name).flops);
    if (time.name != "products") {  // of several launches each
      EXPECT_NEAR(time.mean_seconds(), 2e-6, 1e-9);
    }
  }
  // It runs on one stream; what is measured otherwise is as it was.
  TensorStore again = testing::exact_inputs(program_);
  executor.run(again);
  EXPECT_EQ(testing::first_difference(again, tensors, false), "");
}

INSTANTIATE_TEST_SUITE_P(AllSchedules,
                         KernelTimesTest,
                         ::testing::ValuesIn(schedule_names()),
                         [](const auto& parameter) { return parameter.param; });

}  // namespace
}  // namespace moesim
