// One rank, on fakes of CUDA and NCCL.
#include "kernels/cuda/nccl/run_watch.h"

#include <gmock/gmock.h>

#include "kernels/cuda/nccl/nccl_executor.h"
#include "tests/support/fake_cuda/fake_cuda.h"
#include "tests/support/fake_nccl/fake_nccl.h"
#include "tests/support/hand_program.h"

namespace moesim {
namespace {

using namespace test;

// Notes how many communicators were left when the peers heard of a failure.
class LonePeers : public RankPeers {
 public:
  int rank() const override { return 0; }
  int num_ranks() const override { return 1; }
  std::vector<std::string> gather(std::string bytes) override { return {std::move(bytes)}; }
  std::string broadcast(std::string bytes) override { return bytes; }
  MonotonicTime agree_on_start() override { return std::chrono::steady_clock::now(); }
  void watch(const std::optional<Standstill>&) override {}
  void fail(std::exception_ptr) override { left_at_failure = fake_nccl::num_communicators(); }

  int left_at_failure = 0;
};

// An abort may wait for kernels of other ranks: these must know that the run is over.
TEST(RunWatchTest, TellsPeersBeforeItAborts) {
  fake_nccl::reset();
  const testing::FakeCuda cuda;
  HandProgram hand(1, {"s"});
  hand.add_fixed("work", 0, ps(1'000'000));
  LonePeers peers;
  const Program program = hand.program();
  NcclExecutor executor(program, {}, peers);
  fake_nccl::fail("ncclCommGetAsyncError", 1, ncclSystemError);
  EXPECT_THROW(executor.connect(), Failure);
  EXPECT_EQ(peers.left_at_failure, 1);  // the world's
  EXPECT_EQ(fake_nccl::num_communicators(), 0);
}

}  // namespace
}  // namespace moesim
