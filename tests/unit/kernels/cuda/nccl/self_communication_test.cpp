#include "kernels/cuda/nccl/self_communication.h"

#include <gmock/gmock.h>

#include "kernels/cuda/nccl/device_sharing.h"
#include "kernels/cuda/nccl/nccl_call.h"
#include "tests/support/fake_cuda/fake_cuda.h"
#include "tests/support/fake_nccl/fake_nccl.h"

namespace moesim {
namespace {

using moesim::testing::FakeCuda;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

class SelfCommunicationTest : public ::testing::Test {
 protected:
  SelfCommunicationTest() {
    fake_nccl::reset();
    fake_nccl::set_enqueue([](cudaStream_t stream, fake_nccl::StreamWork work) {
      FakeCuda::add_attempt(stream, std::move(work));
    });
  }
  ~SelfCommunicationTest() override {
    EXPECT_EQ(cuda_.num_live_handles(), 0);
    EXPECT_EQ(fake_nccl::num_communicators(), 0);
  }

  // Whatever is on a stream takes 3 us.
  FakeCuda cuda_{{.kernel_time = Time::from_picoseconds(3'000'000)}};
};

TEST_F(SelfCommunicationTest, TimesBothWaysAtEachSize) {
  const auto calls = time_self_communication({.sizes = {4, 1024}, .num_warmups = 1, .num_runs = 3});
  ASSERT_EQ(calls.size(), 4U);
  EXPECT_EQ(calls[0].kind, ExchangeKind::kSend);
  EXPECT_EQ(calls[1].kind, ExchangeKind::kAllToAll);
  EXPECT_EQ(calls[3].bytes, 1024);
  for (const SelfCall& call : calls) {
    ASSERT_EQ(call.times.size(), 3U);
    EXPECT_NEAR(call.times[0].seconds(), 3e-6, 1e-12);
  }
}

TEST_F(SelfCommunicationTest, NothingToTimeIsNoCall) {
  EXPECT_THAT(time_self_communication({}), IsEmpty());
}

TEST_F(SelfCommunicationTest, ErrorsAreNcclErrors) {
  fake_nccl::fail("ncclRecv", 2, ncclInternalError);
  EXPECT_THROW(time_self_communication({.sizes = {4}}), NcclError);
}

// Four processes on two GPUs share them; two have one each.
TEST(DeviceSharingTest, ProcessesTakeDevicesInTurn) {
  const DeviceChoice own = choose_device({.place = 1, .num_processes = 2}, 2);
  EXPECT_EQ(own.device, 1);
  EXPECT_FALSE(own.is_shared);
  EXPECT_THAT(own.environment, IsEmpty());
  const DeviceChoice shared = choose_device({.place = 3, .num_processes = 4}, 2);
  EXPECT_EQ(shared.device, 1);
  EXPECT_TRUE(shared.is_shared);
  EXPECT_THAT(shared.environment,
              ElementsAre(Pair("NCCL_HOSTID", "moesim-3"),
                          Pair("NCCL_P2P_DISABLE", "1"),
                          Pair("NCCL_SHM_DISABLE", "1"),
                          Pair("NCCL_IB_DISABLE", "1"),
                          Pair("NCCL_SOCKET_IFNAME", "lo")));
}

TEST(DeviceSharingTest, WhatIsSetStays) {
  setenv("NCCL_SOCKET_IFNAME", "eth7", 1);
  unsetenv("NCCL_HOSTID");
  set_environment(choose_device({.place = 1, .num_processes = 2}, 1));
  EXPECT_STREQ(getenv("NCCL_SOCKET_IFNAME"), "eth7");
  EXPECT_STREQ(getenv("NCCL_HOSTID"), "moesim-1");
}

}  // namespace
}  // namespace moesim
