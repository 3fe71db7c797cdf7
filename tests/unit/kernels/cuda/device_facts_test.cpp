#include "kernels/cuda/device_facts.h"

#include <cstdlib>

#include <gmock/gmock.h>

#include "kernels/cuda/cuda_call.h"
#include "kernels/cuda/handles.h"
#include "kernels/cuda/hardware_queues.h"
#include "tests/support/fake_cuda/fake_cuda.h"

namespace moesim {
namespace {

using testing::FakeCuda;
using ::testing::HasSubstr;

std::string failure_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "";
}

TEST(DeviceFactsTest, WithoutADriverThereIsNoDevice) {
  const FakeCuda cuda({.num_devices = 0});
  EXPECT_EQ(count_devices(), 0);
  EXPECT_THAT(failure_of([] { use_device(0); }),
              HasSubstr("no CUDA device: this machine has none"));
}

TEST(DeviceFactsTest, SaysWhereTheDriverIsTooOld) {
  const FakeCuda cuda({.num_devices = 0, .driver_version = 11'080});
  EXPECT_THAT(failure_of([] { use_device(0); }),
              HasSubstr("the driver knows CUDA 11.8, and this program is of CUDA 12.8; install a "
                        "newer driver, or build with CUDA 11"));
}

TEST(DeviceFactsTest, SaysHowManyDevicesThereAre) {
  const FakeCuda cuda({.num_devices = 2});
  EXPECT_THAT(failure_of([] { use_device(2); }),
              HasSubstr("no CUDA device 2: this process sees 2"));
}

TEST(DeviceFactsTest, TellsWhatTheRuntimeTells) {
  const FakeCuda cuda({.num_devices = 2, .memory_bytes = int64_t{1} << 30});
  use_device(1);
  const DeviceFacts facts = device_facts(1);
  EXPECT_EQ(describe(facts),
            "Fake GPU (sm_90, 132 SMs, 1 GiB), driver for CUDA 13.0, runtime 12.8");
  EXPECT_EQ(facts.pci_bus_id, "0000:01:00.0");
  EXPECT_EQ(facts.sm_clock_khz, 1'980'000);
  ASSERT_EQ(facts.peers.size(), 1U);
  EXPECT_EQ(facts.peers[0].device, 0);
  EXPECT_TRUE(facts.peers[0].has_native_atomics);
}

TEST(CudaCallTest, NamesCallErrorAndPlace) {
  const FakeCuda cuda({.memory_bytes = 1000});
  EXPECT_THAT(failure_of([] { make_device_memory(1001); }),
              ::testing::MatchesRegex("cudaMalloc failed: out of memory "
                                      "\\(cudaErrorMemoryAllocation\\) at "
                                      "kernels/cuda/handles.cpp:[0-9]+"));
}

class HardwareQueuesTest : public ::testing::Test {
 protected:
  static constexpr const char* kVariable = "CUDA_DEVICE_MAX_CONNECTIONS";

  void SetUp() override { unsetenv(kVariable); }
  void TearDown() override { unsetenv(kVariable); }
};

TEST_F(HardwareQueuesTest, AreSetBeforeTheContextIsThere) {
  const FakeCuda cuda;
  set_hardware_queues(4, 0);
  EXPECT_STREQ(std::getenv(kVariable), "4");
}

TEST_F(HardwareQueuesTest, CannotBeSetLater) {
  const FakeCuda cuda;
  const DeviceMemory memory = make_device_memory(1);
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(failure_of([] { set_hardware_queues(4, 0); }),
                HasSubstr("was made while CUDA_DEVICE_MAX_CONNECTIONS was not set; start the "
                          "program with CUDA_DEVICE_MAX_CONNECTIONS=4"));
  }
}

TEST_F(HardwareQueuesTest, MayBeAsTheyWere) {
  const FakeCuda cuda;
  set_hardware_queues(4, 0);
  const DeviceMemory memory = make_device_memory(1);
  set_hardware_queues(4, 0);
}

}  // namespace
}  // namespace moesim
