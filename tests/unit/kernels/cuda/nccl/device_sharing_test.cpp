#include "kernels/cuda/nccl/device_sharing.h"

#include <cstdlib>
#include <string>

#include <gmock/gmock.h>

namespace moesim {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

// A process of a machine whose processes all see the devices 0 to num_devices - 1.
DeviceChoice choose(int place, int num_processes, int num_devices) {
  const auto gpu_of = [](int device) { return std::to_string(device); };
  const auto tell = [&](const std::string& own) {
    EXPECT_EQ(own, gpu_of(place % num_devices));
    std::vector<std::string> gpus;
    for (int other = 0; other < num_processes; ++other) {
      gpus.push_back(gpu_of(other % num_devices));
    }
    return gpus;
  };
  return choose_device({.place = place, .tell = tell}, num_devices, gpu_of);
}

// Four processes on two GPUs share them; two have one each.
TEST(DeviceSharingTest, ProcessesTakeDevicesInTurn) {
  const DeviceChoice own = choose(1, 2, 2);
  EXPECT_EQ(own.device, 1);
  EXPECT_FALSE(own.is_shared);
  EXPECT_THAT(own.environment, IsEmpty());
  const DeviceChoice shared = choose(3, 4, 2);
  EXPECT_EQ(shared.device, 1);
  EXPECT_TRUE(shared.is_shared);
  EXPECT_THAT(shared.environment,
              ElementsAre(Pair("NCCL_HOSTID", "moesim-3"),
                          Pair("NCCL_P2P_DISABLE", "1"),
                          Pair("NCCL_SHM_DISABLE", "1"),
                          Pair("NCCL_IB_DISABLE", "1"),
                          Pair("NCCL_SOCKET_IFNAME", "lo")));
}

// With `srun --gpus-per-task=1` each process sees one device, its own.
TEST(DeviceSharingTest, ProcessesThatSeeAGpuOfTheirOwnDoNotShareIt) {
  const auto tell = [](const std::string& own) {
    return std::vector<std::string>{"0000:1b:00.0", own, "0000:43:00.0"};
  };
  const auto gpu_of = [](int) { return std::string("0000:2c:00.0"); };
  const DeviceChoice own = choose_device({.place = 1, .tell = tell}, 1, gpu_of);
  EXPECT_EQ(own.device, 0);
  EXPECT_FALSE(own.is_shared);
}

TEST(DeviceSharingTest, WhatIsSetStays) {
  setenv("NCCL_SOCKET_IFNAME", "eth7", 1);
  unsetenv("NCCL_HOSTID");
  set_environment(choose(1, 2, 1));
  EXPECT_STREQ(getenv("NCCL_SOCKET_IFNAME"), "eth7");
  EXPECT_STREQ(getenv("NCCL_HOSTID"), "moesim-1");
}

}  // namespace
}  // namespace moesim
