// The clock by a fake NVML, which the loader finds as it would the driver's.
#include "kernels/cuda/probes/gpu_clock.h"

#include <gtest/gtest.h>

#include "kernels/cuda/libraries/shared_library.h"
#include "tests/unit/kernels/cuda/probes/fake_nvml.h"

namespace moesim {
namespace {

class GpuClockTest : public ::testing::Test {
 protected:
  void fail(const char* call) const {
    library_.function<decltype(fake_nvml_fail)>("fake_nvml_fail")(call);
  }

 private:
  SharedLibrary library_{"libnvidia-ml.so.1", "the tests' fake"};
};

// 1,755 MHz.
TEST_F(GpuClockTest, IsThatOfTheSms) {
  fail("");
  const GpuClock clock(kFakeNvmlGpu);
  EXPECT_EQ(clock.hertz(), 1.755e9);
}

TEST_F(GpuClockTest, AnotherGpuHasNone) {
  fail("");
  EXPECT_EQ(GpuClock("0000:5e:00.0").hertz(), std::nullopt);
}

// A GPU whose clock cannot be read is probed all the same.
TEST_F(GpuClockTest, NoCallThatFailsEndsAProbe) {
  for (const char* call :
       {"nvmlInit_v2", "nvmlDeviceGetHandleByPciBusId_v2", "nvmlDeviceGetClockInfo"}) {
    fail(call);
    EXPECT_EQ(GpuClock(kFakeNvmlGpu).hertz(), std::nullopt) << call;
  }
}

// It may fail after it did not, and come back.
TEST_F(GpuClockTest, IsAskedForEachTime) {
  fail("");
  const GpuClock clock(kFakeNvmlGpu);
  fail("nvmlDeviceGetClockInfo");
  EXPECT_EQ(clock.hertz(), std::nullopt);
  fail("");
  EXPECT_EQ(clock.hertz(), 1.755e9);
}

}  // namespace
}  // namespace moesim
