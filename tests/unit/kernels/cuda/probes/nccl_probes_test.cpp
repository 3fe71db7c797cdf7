// A collective of one GPU with itself, on the fakes of CUDA and NCCL.
#include "kernels/cuda/probes/nccl_probes.h"

#include <utility>

#include <gmock/gmock.h>

#include "sim/base/error.h"
#include "tests/support/fake_cuda/fake_cuda.h"
#include "tests/support/fake_nccl/fake_nccl.h"

namespace moesim {
namespace {

using testing::FakeCuda;
using testing::FakeCudaOptions;

FakeCudaOptions options(int num_devices = 1) {
  constexpr Time kTen = Time::from_picoseconds(10'000'000);  // 10 us
  return {.num_devices = num_devices, .kernel_time = kTen, .call_time = kTen};
}

void join_fakes() {
  fake_nccl::reset();
  fake_nccl::set_enqueue([](cudaStream_t stream, fake_nccl::StreamWork work) {
    FakeCuda::add_attempt(stream, std::move(work));
  });
}

class NcclProbesTest : public ::testing::TestWithParam<CollectiveOperation> {
 protected:
  void SetUp() override { join_fakes(); }
};

// A collective and a copy, which packs, take 10 us each on the fakes. So does each call of the
// host, which is not timed.
TEST_P(NcclProbesTest, CollectivesWithOneselfAreTimed) {
  const FakeCuda cuda(options());
  NcclProbes probes({0});
  GpuProbe probe = {
      .kind = GpuProbeKind::kCollective, .bytes = 65536, .operation = GetParam(), .group_size = 1};
  EXPECT_NEAR(probes.prepare(probe)().seconds(), 10e-6, 1e-9);
  probe.packed = true;
  EXPECT_NEAR(probes.prepare(probe)().seconds(), 20e-6, 1e-9);
}

INSTANTIATE_TEST_SUITE_P(Operations,
                         NcclProbesTest,
                         ::testing::Values(CollectiveOperation::kAllReduce,
                                           CollectiveOperation::kAllGather,
                                           CollectiveOperation::kReduceScatter,
                                           CollectiveOperation::kAllToAll));

TEST(NcclPairTest, TwoAtOnceHaveCommunicatorsOfTheirOwn) {
  join_fakes();
  const FakeCuda cuda(options());
  NcclProbes probes({0});
  const GpuProbe pair = {.kind = GpuProbeKind::kCollectivePair,
                         .bytes = 65536,
                         .operation = CollectiveOperation::kAllToAll,
                         .group_size = 1,
                         .ctas = 4};
  EXPECT_NEAR(probes.prepare(pair)().seconds(), 10e-6, 1e-9);  // on streams of their own
  EXPECT_EQ(fake_nccl::num_communicators(), 0);
  EXPECT_EQ(cuda.num_live_handles(), 0);
}

// Two GPUs, whose threads meet in NCCL.
TEST(NcclPairTest, TwoGpusMeet) {
  join_fakes();
  const FakeCuda cuda({.num_devices = 2});
  NcclProbes probes({0, 1});
  const GpuProbe probe = {.kind = GpuProbeKind::kCollective,
                          .bytes = 65536,
                          .operation = CollectiveOperation::kAllToAll,
                          .group_size = 2};
  EXPECT_EQ(probes.prepare(probe)(), Time::zero());
}

TEST(NcclPairTest, CallsThatFailAreTold) {
  for (const char* call : {"ncclGetUniqueId", "ncclCommInitRankConfig", "ncclSend", "ncclRecv"}) {
    join_fakes();
    fake_nccl::fail(call, 1, ncclSystemError);
    const FakeCuda cuda;
    NcclProbes probes({0});
    const GpuProbe probe = {.kind = GpuProbeKind::kCollective,
                            .bytes = 65536,
                            .operation = CollectiveOperation::kAllToAll,
                            .group_size = 1};
    try {
      probes.prepare(probe)();
      ADD_FAILURE() << call << " failed unnoticed";
    } catch (const Failure& failure) {
      EXPECT_THAT(failure.what(), ::testing::HasSubstr(call));
    }
  }
}

}  // namespace
}  // namespace moesim
