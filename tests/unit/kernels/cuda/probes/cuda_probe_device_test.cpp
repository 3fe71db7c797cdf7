// Probes on the fake CUDA, whose kernels all take the same time: what is timed, what is not, and
// that every call that fails is told.
#include "kernels/cuda/probes/cuda_probe_device.h"

#include <gmock/gmock.h>

#include "kernels/cuda/cuda_call.h"
#include "kernels/probe/measure_probes.h"
#include "tests/support/fake_cuda/fake_cuda.h"

namespace moesim {
namespace {

using ::testing::AnyOf;
using testing::FakeCuda;
using testing::FakeCudaOptions;
using ::testing::HasSubstr;

constexpr Time kKernel = Time::from_picoseconds(10'000'000);  // 10 us
constexpr Time kCall = kKernel;                               // what a call takes the host
constexpr double kMicrosecond = 1e-6;

GpuProbe small(GpuProbeKind kind) {
  return {.kind = kind,
          .rows = 4,
          .columns = 8,
          .depth = 16,
          .beside_sms = 2,
          .streams = 3,
          .kernels = 2,
          .queues = 32,
          .bytes = 1024,
          .blocks = 8};
}

FakeCudaOptions options(std::uint64_t seed) {
  return {.seed = seed, .kernel_time = kKernel, .call_time = kCall};
}

double seconds(const GpuProbe& probe, std::uint64_t seed = 1) {
  const FakeCuda cuda(options(seed));
  use_device(0);
  CudaProbeDevice device(device_facts(0), nullptr);
  const std::function<Time()> once = device.prepare(probe);
  once();
  return once().seconds();
}

// One kernel of 10 us between the events, whatever came before it.
TEST(CudaProbeDeviceTest, GemmsAreTimedAlone) {
  for (const bool cold : {false, true}) {
    GpuProbe probe = small(GpuProbeKind::kGemm);
    probe.cold = cold;
    EXPECT_NEAR(seconds(probe), 10 * kMicrosecond, 0.01 * kMicrosecond);
  }
  EXPECT_NEAR(seconds(small(GpuProbeKind::kGemmBesideCopy)), 10 * kMicrosecond, 1e-8);
  EXPECT_NEAR(seconds(small(GpuProbeKind::kGemmBesideSpin)), 10 * kMicrosecond, 1e-8);
  EXPECT_NEAR(seconds(small(GpuProbeKind::kCopy)), 10 * kMicrosecond, 1e-8);
}

// Two kernels of 50 us in each of three chains, which are side by side on the fake. The host takes
// 40 us for each: a wait, two launches, a record; that is not timed.
TEST(CudaProbeDeviceTest, ChainsRunSideBySide) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    EXPECT_NEAR(seconds(small(GpuProbeKind::kQueues), seed), 100 * kMicrosecond, 1e-8);
  }
}

TEST(CudaProbeDeviceTest, LaunchesAreTimedByTheHost) {
  EXPECT_GT(seconds(small(GpuProbeKind::kLaunch)), 0);
}

TEST(CudaProbeDeviceTest, NothingIsLeftBehind) {
  const FakeCuda cuda(options(1));
  {
    use_device(0);
    CudaProbeDevice device(device_facts(0), nullptr);
    for (int kind = 0; kind <= static_cast<int>(GpuProbeKind::kLaunch); ++kind) {
      device.prepare(small(static_cast<GpuProbeKind>(kind)))();
    }
  }
  EXPECT_EQ(cuda.num_live_handles(), 0);
}

TEST(CudaProbeDeviceTest, CopiesThatDoNotFitAreRefused) {
  GpuProbe probe = small(GpuProbeKind::kCopy);
  probe.bytes = int64_t{1} << 30U;
  EXPECT_THROW(seconds(probe), Failure);
}

// Each call of each probe fails once, the n-th time that it is made: the message names it, and
// nothing goes on on the device that only the probe could have stopped.
TEST(CudaProbeDeviceTest, EveryCallThatFailsIsTold) {
  for (int kind = 0; kind <= static_cast<int>(GpuProbeKind::kLaunch); ++kind) {
    const GpuProbe probe = small(static_cast<GpuProbeKind>(kind));
    std::map<std::string, int> calls;
    {
      const FakeCuda cuda(options(1));
      use_device(0);
      CudaProbeDevice device(device_facts(0), nullptr);
      const std::map<std::string, int> before = cuda.calls();
      device.prepare(probe)();
      for (const auto& [call, number] : cuda.calls()) {
        const auto found = before.find(call);
        if (found == before.end() || found->second < number) {
          calls[call] = number;
        }
      }
    }
    EXPECT_FALSE(calls.empty());
    for (const auto& [call, number] : calls) {
      FakeCudaOptions faulty = options(1);
      faulty.fault = testing::Fault{.call = call, .number = number};
      FakeCuda cuda(faulty);
      use_device(0);
      CudaProbeDevice device(device_facts(0), nullptr);
      try {
        device.prepare(probe)();
        ADD_FAILURE() << to_string(probe) << ": " << call << " failed unnoticed";
      } catch (const Failure& failure) {
        EXPECT_THAT(failure.what(), HasSubstr(call)) << to_string(probe);
      }
      EXPECT_TRUE(cuda.becomes_idle()) << to_string(probe) << " after " << call << " failed";
    }
  }
}

TEST(CudaProbeDeviceTest, KernelsThatFailAreTold) {
  FakeCudaOptions faulty = options(1);
  faulty.fault = testing::Fault{.call = "kernel", .number = 1};
  const FakeCuda cuda(faulty);
  use_device(0);
  CudaProbeDevice device(device_facts(0), nullptr);
  EXPECT_THROW(device.prepare(small(GpuProbeKind::kCopy))(), CudaError);
}

// The machine of this test may have NVML or not; the fake's GPU is on no bus.
TEST(CudaProbeDeviceTest, WithoutNvmlThereIsNoClock) {
  const FakeCuda cuda(options(1));
  use_device(0);
  CudaProbeDevice device(device_facts(0), nullptr);
  EXPECT_EQ(device.clock_hertz(), std::nullopt);
}

}  // namespace
}  // namespace moesim
