// Steps alone on a stream of the fake CUDA.
#include "kernels/cuda/step_timer.h"

#include <gmock/gmock.h>

#include "tests/support/fake_cuda/fake_cuda.h"

namespace moesim {
namespace {

using testing::FakeCuda;
using ::testing::HasSubstr;

// Fills of 64 bytes.
std::vector<DeviceStep> fills(int count, std::vector<char>& memory) {
  memory.resize(64);
  return std::vector<DeviceStep>(
      static_cast<size_t>(count),
      fill_step({.at = reinterpret_cast<DeviceAddress>(memory.data()), .bytes = 64, .value = 1}));
}

// More than fit into one batch: 600 of 3 us, 1.8 ms and 38,400 bytes in all. The spins before the
// batches do not count.
TEST(StepTimerTest, TimesAnyNumberOfSteps) {
  const FakeCuda cuda({.kernel_time = Time::from_picoseconds(3'000'000)});
  std::vector<char> memory;
  const std::vector<DeviceStep> steps = fills(600, memory);
  const StepLauncher launcher(0);
  const Stream stream = make_stream(StreamPriority::kLow);
  StepTimer timer;
  timer.run(launcher, steps, {stream.get(), nullptr});
  timer.run(launcher, {}, {stream.get(), nullptr});
  const std::vector<KernelTime> times = timer.times();
  ASSERT_EQ(times.size(), 1U);
  EXPECT_EQ(times[0].name, "fill");
  EXPECT_EQ(times[0].count, 600);
  EXPECT_NEAR(times[0].total.seconds(), 1.8e-3, 1e-8);
  EXPECT_EQ(times[0].bytes, 38'400);
  EXPECT_EQ(memory[63], 1);
}

TEST(StepTimerTest, WhatFailsIsACudaError) {
  for (const char* call :
       {"cudaEventRecord", "cudaStreamSynchronize", "cudaEventElapsedTime", "cudaMemsetAsync"}) {
    SCOPED_TRACE(call);
    const FakeCuda cuda({.fault = testing::Fault{.call = call}});
    std::vector<char> memory;
    const std::vector<DeviceStep> steps = fills(2, memory);
    {
      const StepLauncher launcher(0);
      const Stream stream = make_stream(StreamPriority::kLow);
      StepTimer timer;
      try {
        timer.run(launcher, steps, {stream.get(), nullptr});
        ADD_FAILURE() << "no error";
      } catch (const CudaError& error) {
        EXPECT_THAT(error.what(), HasSubstr(call));
      }
    }
    EXPECT_EQ(cuda.num_live_handles(), 0);
  }
}

}  // namespace
}  // namespace moesim
