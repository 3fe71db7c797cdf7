// Programs by hand on threads with a GPU each, on fakes of CUDA and NCCL.
#include "kernels/cuda/nccl/nccl_threads.h"

#include <gmock/gmock.h>

#include "kernels/hang.h"
#include "sim/base/error.h"
#include "tests/support/fake_cuda/fake_cuda.h"
#include "tests/support/fake_nccl/fake_nccl.h"
#include "tests/support/hand_program.h"

namespace moesim {
namespace {

using moesim::testing::FakeCuda;
using namespace test;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int kNumRanks = 3;

class NcclThreadsTest : public ::testing::Test {
 protected:
  NcclThreadsTest() {
    fake_nccl::reset();
    fake_nccl::set_enqueue([](cudaStream_t stream, fake_nccl::StreamWork work) {
      FakeCuda::add_attempt(stream, std::move(work));
    });
  }
  ~NcclThreadsTest() override {
    EXPECT_EQ(cuda_.num_live_handles(), 0);
    EXPECT_EQ(fake_nccl::num_communicators(), 0);
  }

  // x = 10 rank + row is gathered to y on stream s while t works; then a byte count goes round on
  // t.
  static Program program() {
    HandProgram hand(kNumRanks, {"s", "t"});
    const int group = hand.add_group("all", {{2, 0, 1}});
    const int x = hand.add_tensor("x", 2, true);
    const int y = hand.add_tensor("y", 2 * kNumRanks);
    Collective gather;
    gather.operation = CollectiveOperation::kAllGather;
    gather.group = group;
    const int task = hand.add_collective("gather", 0, gather, ps(1));
    hand.task(task).reads = {rows(hand.program(), x)};
    hand.task(task).writes = {rows(hand.program(), y)};
    hand.add_fixed("work", 1, ps(2'000'000));
    Collective bytes = all_to_all(group);
    bytes.bytes = 4096;
    hand.add_collective("bytes", 1, bytes, ps(1), {task});
    return hand.program();
  }

  static TensorStore filled(const Program& program) {
    TensorStore tensors(program);
    for (int rank = 0; rank < program.num_ranks; ++rank) {
      for (int row = 0; row < program.tensors[0].rows; ++row) {
        *tensors.values(rank, 0, row) = static_cast<float>(10 * rank + row);
      }
    }
    return tensors;
  }

  FakeCuda cuda_{{.num_devices = kNumRanks}};
};

// In the order of the group: ranks 2, 0, 1.
TEST_F(NcclThreadsTest, RunsCollectivesAndTellsOfAllRanks) {
  const Program program = NcclThreadsTest::program();
  NcclThreads executor(program, {});
  for (int run = 0; run < 3; ++run) {
    TensorStore tensors = filled(program);
    const Trace trace = executor.run(tensors).trace;
    for (int rank = 0; rank < kNumRanks; ++rank) {
      const float* y = tensors.values(rank, 1);
      EXPECT_THAT(std::vector<float>(y, y + 6), ::testing::ElementsAre(20, 21, 0, 1, 10, 11));
    }
    EXPECT_EQ(trace.executor, "nccl");
    EXPECT_EQ(trace.spans.size(), 9U);  // three tasks of three ranks
    EXPECT_THAT(trace.assumptions, ::testing::Contains(HasSubstr("those of NCCL 2.")));
  }
}

TEST_F(NcclThreadsTest, RefusesWhatItCannotRun) {
  const Program program = NcclThreadsTest::program();
  NcclOptions options;
  options.cuda.uses_graph = true;
  EXPECT_THROW(NcclThreads(program, options), Error);
}

// The library that runs decides, not the header that moesim was built with.
TEST_F(NcclThreadsTest, RefusesWhatAnOlderNcclCannotDo) {
  const Program program = NcclThreadsTest::program();
  NcclOptions options;
  options.native_all_to_all = true;
  fake_nccl::set_version(NCCL_VERSION(2, 27, 7));
  try {
    NcclThreads(program, options);
    FAIL() << "it was made";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("no ncclAlltoAll, 2.28 is the first"));
  }
}

// A fourth rank has no device.
TEST_F(NcclThreadsTest, EveryRankNeedsADevice) {
  Program program = NcclThreadsTest::program();
  program.num_ranks = kNumRanks + 1;
  try {
    NcclThreads(program, {});
    FAIL() << "it was made";
  } catch (const Failure& failure) {
    EXPECT_THAT(failure.what(), HasSubstr("no CUDA device 3: this process sees 3"));
  }
}

// Rank 0 comes to "a" first, rank 1 to "b", which stand behind each other on their streams: NCCL
// waits for ever.
TEST_F(NcclThreadsTest, AHangNamesCollectivesAndWhoIsMissing) {
  HandProgram hand(2, {"s"});
  const int a = hand.add_group("a", {{0, 1}});
  const int b = hand.add_group("b", {{0, 1}});
  Program program = hand.program();
  program.roles = {{"zero", {0}}, {"one", {1}}};
  const auto add = [&](int role, int group) {
    Task task;
    task.name = program.groups[static_cast<size_t>(group)].name + std::to_string(role);
    task.roles = {role};
    task.stream = 0;
    task.kind = "c";
    Collective collective = all_to_all(group);
    collective.bytes = 64;
    task.descriptor = collective;
    program.tasks.push_back(task);
  };
  add(0, a);
  add(0, b);
  add(1, b);
  add(1, a);
  NcclOptions options;
  options.patience = Time::from_seconds(0.05);
  NcclThreads executor(program, options);
  TensorStore tensors(program);
  try {
    executor.run(tensors);
    FAIL() << "it ended";
  } catch (const Hang& hang) {
    EXPECT_THAT(
        hang.what(),
        AllOf(HasSubstr("collective 'a0' of group 'a', instance 0 (ranks 0, 1): rank 1 did not"),
              HasSubstr("collective 'b1' of group 'b', instance 0 (ranks 0, 1): rank 0 did not")));
  }
}

}  // namespace
}  // namespace moesim
