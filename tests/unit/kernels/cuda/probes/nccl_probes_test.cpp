// Collectives of one GPU with itself and of several, on the fakes of CUDA and NCCL.
#include "kernels/cuda/probes/nccl_probes.h"

#include <optional>
#include <string>

#include <gmock/gmock.h>

#include "sim/base/error.h"
#include "tests/support/fake_cuda/fake_cuda.h"
#include "tests/support/fake_nccl/fake_nccl.h"

namespace moesim {
namespace {

using ::testing::AllOf;
using testing::FakeCuda;
using testing::FakeCudaOptions;
using testing::Fault;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr Time kTen = Time::from_picoseconds(10'000'000);  // 10 us

FakeCudaOptions options(int num_devices = 1) {
  return {.num_devices = num_devices, .kernel_time = kTen, .call_time = kTen};
}

void join_fakes() {
  fake_nccl::reset();
  fake_nccl::set_enqueue([](cudaStream_t stream, fake_nccl::StreamWork work) {
    FakeCuda::add_attempt(stream, std::move(work));
  });
}

GpuProbe probe_of(CollectiveOperation operation, int group_size) {
  return {.kind = GpuProbeKind::kCollective,
          .bytes = 65536,
          .operation = operation,
          .group_size = group_size};
}

GpuProbe pair_of(int group_size) {
  GpuProbe pair = probe_of(CollectiveOperation::kAllToAll, group_size);
  pair.kind = GpuProbeKind::kCollectivePair;
  return pair;
}

class NcclProbesTest : public ::testing::TestWithParam<CollectiveOperation> {
 protected:
  void SetUp() override { join_fakes(); }
};

// A collective and a copy, which packs, take 10 us each on the fakes. So does each call of the
// host, which is not timed. What each rank received is compared before.
TEST_P(NcclProbesTest, AreTimedOnOneGpuAndOnSeveral) {
  for (const int size : {1, 2, 4}) {
    const FakeCuda cuda(options(size));
    NcclProbes probes({0, 1, 2, 3});
    GpuProbe probe = probe_of(GetParam(), size);
    EXPECT_NEAR(probes.prepare(probe)().seconds(), 10e-6, 1e-9) << size;
    probe.packed = true;
    EXPECT_NEAR(probes.prepare(probe)().seconds(), 20e-6, 1e-9) << size;
    EXPECT_EQ(cuda.num_live_handles(), 0);
  }
}

// One byte of what the last rank receives is another one: 0 and 1 are told apart by their lowest
// bit, and byte 4099 is beyond the first row.
TEST_P(NcclProbesTest, AWrongByteIsToldWithItsPlace) {
  for (const bool packed : {false, true}) {
    join_fakes();
    const FakeCuda cuda(options(2));
    NcclProbes probes({0, 1});
    GpuProbe probe = probe_of(GetParam(), 2);
    probe.packed = packed;
    // Where sends bring it in two parcels, in the first.
    fake_nccl::spoil(1, 4099);
    try {
      probes.prepare(probe);
      ADD_FAILURE() << "it went unnoticed";
    } catch (const Failure& failure) {
      EXPECT_THAT(failure.what(),
                  AllOf(HasSubstr(std::string("collective, ") + to_string(GetParam()) + ", 64 KiB"),
                        HasSubstr("2 GPUs"),
                        HasSubstr(": rank 1 received 0x"),
                        HasSubstr(" as byte 4099 of ")));
    }
    EXPECT_EQ(fake_nccl::num_communicators(), 0);
    EXPECT_EQ(cuda.num_live_handles(), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Operations,
                         NcclProbesTest,
                         ::testing::Values(CollectiveOperation::kAllReduce,
                                           CollectiveOperation::kAllGather,
                                           CollectiveOperation::kReduceScatter,
                                           CollectiveOperation::kAllToAll,
                                           CollectiveOperation::kShift,
                                           CollectiveOperation::kBroadcast));

// On streams and communicators of their own. All is given back in order, nothing aborted.
TEST(NcclPairTest, TwoAtOnceTakeAsLongAsOne) {
  for (const int size : {1, 2}) {
    join_fakes();
    const FakeCuda cuda(options(size));
    NcclProbes probes({0, 1});
    EXPECT_NEAR(probes.prepare(pair_of(size))().seconds(), 10e-6, 1e-9);
    EXPECT_EQ(fake_nccl::num_communicators(), 0);
    EXPECT_EQ(fake_nccl::num_aborted(), 0);
    EXPECT_EQ(cuda.num_live_handles(), 0);
  }
}

// What a probe of a pair on three GPUs throws; empty where it throws nothing.
std::string error_of(const std::optional<Fault>& fault = {}) {
  FakeCudaOptions fakes = options(3);
  fakes.fault = fault;
  const FakeCuda cuda(fakes);
  NcclProbes probes({0, 1, 2});
  std::string error;
  try {
    GpuProbe pair = pair_of(3);
    pair.bytes = 3 * 65536;
    const std::function<Time()> once = probes.prepare(pair);
    once();
    once();
  } catch (const Failure& failure) {
    error = failure.what();
  }
  EXPECT_EQ(fake_nccl::num_communicators(), 0);
  EXPECT_EQ(cuda.num_live_handles(), 0);
  return error;
}

// One of three members fails, each in its turn: the others wait for it, are aborted, and the error
// is the first one's, not theirs.
TEST(NcclFailureTest, OneMemberThatFailsInNcclEndsAll) {
  for (const char* call : {"ncclGetUniqueId",
                           "ncclCommInitRankConfig",
                           "ncclCommSplit",
                           "ncclCommGetAsyncError",
                           "ncclGroupStart",
                           "ncclSend",
                           "ncclRecv",
                           "ncclGroupEnd"}) {
    for (const int number : {1, 2, 3}) {
      if (number > 1 && std::string(call) == "ncclGetUniqueId") {
        continue;  // the ranks share one
      }
      SCOPED_TRACE(call + (" " + std::to_string(number)));
      join_fakes();
      fake_nccl::fail(call, number, ncclSystemError);
      EXPECT_THAT(error_of(), AllOf(HasSubstr(call), HasSubstr("unhandled system error")));
    }
  }
}

// The same of CUDA's calls: the first, one in the middle, and the last, in the second run or where
// members begin.
TEST(NcclFailureTest, OneMemberThatFailsInCudaEndsAll) {
  join_fakes();
  std::map<std::string, int> calls;
  {
    const FakeCuda cuda(options(3));
    NcclProbes probes({0, 1, 2});
    GpuProbe pair = pair_of(3);
    pair.bytes = 3 * 65536;
    const std::function<Time()> once = probes.prepare(pair);
    once();
    once();
    calls = cuda.calls();
  }
  for (const char* call : {"cudaSetDevice",
                           "cudaMalloc",
                           "cudaEventCreateWithFlags",
                           "cudaStreamCreateWithPriority",
                           "launch_spin",
                           "cudaMemsetAsync",
                           "cudaMemcpy",
                           "cudaEventRecord",
                           "cudaStreamWaitEvent",
                           "cudaStreamSynchronize",
                           "cudaEventSynchronize"}) {
    const int count = calls.at(call);
    for (const int number : {1, (count + 1) / 2, count}) {
      SCOPED_TRACE(call + (" " + std::to_string(number)) + " of " + std::to_string(count));
      join_fakes();
      EXPECT_THAT(error_of(Fault{call, number, 700}), HasSubstr(call + std::string(" failed")));
    }
  }
}

// A kernel that fails shows when its member waits.
TEST(NcclFailureTest, AKernelThatFailsEndsAll) {
  join_fakes();
  EXPECT_THAT(error_of(Fault{"kernel", 8, 700}), HasSubstr("Synchronize failed"));
}

// Nobody's call fails, and one hangs until the time is up: so does whoever waits for it.
TEST(NcclFailureTest, WhoDoesNotComeBackIsNamed) {
  join_fakes();
  const FakeCuda cuda(options(2));
  NcclProbes probes({0, 1}, Time::from_seconds(0.05));
  fake_nccl::hang_in_group_end();
  try {
    probes.prepare(probe_of(CollectiveOperation::kAllGather, 2));
    FAIL() << "it ended";
  } catch (const Failure& failure) {
    EXPECT_THAT(failure.what(),
                AllOf(HasSubstr("collective, ALL_GATHER, 64 KiB, 2 GPUs: rank"),
                      HasSubstr("not come back after 0.05 s"),
                      HasSubstr("NCCL_DEBUG=INFO")));
  }
  EXPECT_EQ(fake_nccl::num_communicators(), 0);
}

// An error that no call returns: a peer's death, which NCCL finds while members wait for it.
TEST(NcclFailureTest, ErrorsBehindTheCallsAreFound) {
  join_fakes();
  const FakeCuda cuda(options(2));
  NcclProbes probes({0, 1});
  const std::function<Time()> once = probes.prepare(probe_of(CollectiveOperation::kAllGather, 2));
  fake_nccl::raise(1, ncclRemoteError);
  try {
    once();
    FAIL() << "it went unnoticed";
  } catch (const Failure& failure) {
    EXPECT_THAT(failure.what(), HasSubstr("remote process exited or there was a network error"));
  }
  // What failed is not tried again.
  try {
    once();
    FAIL() << "it went on";
  } catch (const Failure& failure) {
    EXPECT_THAT(failure.what(), HasSubstr("NCCL was ended by this process"));
  }
}

// The times are there already.
TEST(NcclFailureTest, WhatCannotBeGivenBackIsAborted) {
  for (const char* call : {"ncclCommFinalize", "ncclCommDestroy"}) {
    join_fakes();
    fake_nccl::fail(call, 2, ncclSystemError);
    EXPECT_EQ(error_of(), "");
    EXPECT_GT(fake_nccl::num_aborted(), 0);
  }
}

}  // namespace
}  // namespace moesim
