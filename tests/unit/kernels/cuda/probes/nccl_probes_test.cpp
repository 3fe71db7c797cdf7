// A collective of one GPU with itself, on the fakes of CUDA and NCCL.
#include "kernels/cuda/probes/nccl_probes.h"

#include <gmock/gmock.h>

#include "tests/support/fake_cuda/fake_cuda.h"

namespace moesim {
namespace {

using testing::FakeCuda;

class NcclProbesTest : public ::testing::TestWithParam<CollectiveOperation> {};

// NCCL's fake takes no time on the streams: only a packing, one copy of 10 us, shows.
TEST_P(NcclProbesTest, CollectivesWithOneselfAreTimed) {
  const FakeCuda cuda({.kernel_time = Time::from_picoseconds(10'000'000)});
  NcclProbes probes({0});
  GpuProbe probe = {
      .kind = GpuProbeKind::kCollective, .bytes = 65536, .operation = GetParam(), .group_size = 1};
  EXPECT_EQ(probes.prepare(probe)(), Time::zero());
  probe.packed = true;
  EXPECT_NEAR(probes.prepare(probe)().seconds(), 10e-6, 1e-9);
}

INSTANTIATE_TEST_SUITE_P(Operations,
                         NcclProbesTest,
                         ::testing::Values(CollectiveOperation::kAllReduce,
                                           CollectiveOperation::kAllGather,
                                           CollectiveOperation::kReduceScatter,
                                           CollectiveOperation::kAllToAll));

TEST(NcclPairTest, TwoAtOnceHaveCommunicatorsOfTheirOwn) {
  const FakeCuda cuda({.kernel_time = Time::from_picoseconds(10'000'000)});
  NcclProbes probes({0});
  const GpuProbe pair = {.kind = GpuProbeKind::kCollectivePair,
                         .bytes = 65536,
                         .operation = CollectiveOperation::kAllToAll,
                         .group_size = 1,
                         .ctas = 4};
  EXPECT_EQ(probes.prepare(pair)(), Time::zero());
}

}  // namespace
}  // namespace moesim
