// What programs see of the CUDA backend, on fakes of CUDA and NCCL.
#include "kernels/gpu/gpu.h"

#include <exception>
#include <functional>
#include <thread>
#include <utility>

#include <gmock/gmock.h>

#include "kernels/cuda/device_facts.h"
#include "kernels/host/host_script.h"
#include "kernels/host/thread_peers.h"
#include "sim/base/error.h"
#include "tests/support/fake_cuda/fake_cuda.h"
#include "tests/support/fake_nccl/fake_nccl.h"
#include "tests/support/hand_program.h"

namespace moesim {
namespace {

using moesim::testing::FakeCuda;
using namespace test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr int kNumRanks = 2;

// x = 10 rank + row, gathered to y.
Program gathering(int rows_of_x) {
  HandProgram hand(kNumRanks, {"s"});
  Collective gather;
  gather.operation = CollectiveOperation::kAllGather;
  gather.group = hand.add_group("all", {{0, 1}});
  const int x = hand.add_tensor("x", rows_of_x, true);
  const int y = hand.add_tensor("y", kNumRanks * rows_of_x);
  const int task = hand.add_collective("gather", 0, gather, ps(1));
  hand.task(task).reads = {rows(hand.program(), x)};
  hand.task(task).writes = {rows(hand.program(), y)};
  return hand.program();
}

TensorStore filled(const Program& program, std::vector<int> ranks) {
  TensorStore tensors(program, std::move(ranks));
  for (const int rank : tensors.ranks()) {
    for (int row = 0; row < program.tensors[0].rows; ++row) {
      *tensors.values(rank, 0, row) = static_cast<float>(10 * rank + row);
    }
  }
  return tensors;
}

std::string failure_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "no Failure";
}

class GpuRanksTest : public ::testing::Test {
 protected:
  GpuRanksTest() {
    fake_nccl::reset();
    fake_nccl::set_enqueue([](cudaStream_t stream, fake_nccl::StreamWork work) {
      FakeCuda::add_attempt(stream, std::move(work));
    });
  }

  // As processes of one machine do, one behind the other.
  static std::vector<MakeRankExecutor> makers() {
    const auto tell = [](const std::string& /*own*/) {
      std::vector<std::string> gpus;
      for (int rank = 0; rank < kNumRanks; ++rank) {
        gpus.push_back(device_facts(rank % count_devices()).pci_bus_id);
      }
      return gpus;
    };
    std::vector<MakeRankExecutor> makers;
    for (int rank = 0; rank < kNumRanks; ++rank) {
      makers.push_back(gpu_rank_maker({}, {.place = rank, .tell = tell}));
    }
    return makers;
  }

  static Trace run_rank(const MakeRankExecutor& make, const Program& program, RankPeers& peers) {
    const RankExecutor made = make(program, peers);
    TensorStore tensors = filled(program, {peers.rank()});
    Trace trace = made.executor->run(tensors).trace;
    made.close();
    const float* y = tensors.values(peers.rank(), 1);
    EXPECT_THAT(std::vector<float>(y, y + 4), ElementsAre(0, 1, 10, 11));
    return trace;
  }

  // Rank r's trace, after a run by executors that `makers` made.
  static std::vector<Trace> run(const std::vector<MakeRankExecutor>& makers,
                                const Program& program) {
    GroupTable groups;
    groups.update(program);
    const HostScript script = make_host_script(program, groups, kDefaultHardwareQueues);
    ThreadPeers peers(program, script);
    std::vector<Trace> traces(kNumRanks);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < kNumRanks; ++rank) {
      threads.emplace_back([&, rank] {
        try {
          traces[static_cast<size_t>(rank)] =
              run_rank(makers[static_cast<size_t>(rank)], program, peers.of(rank));
        } catch (const std::exception& error) {
          peers.of(rank).fail(std::current_exception());
          ADD_FAILURE() << "rank " << rank << ": " << error.what();
        }
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    return traces;
  }
};

TEST_F(GpuRanksTest, ARankInEachProcessHasAGpuOfItsOwn) {
  const FakeCuda cuda({.num_devices = kNumRanks});
  const std::vector<Trace> traces = run(makers(), gathering(2));
  EXPECT_EQ(traces[0].spans.size(), 2U);
  for (const std::string& line : traces[0].assumptions) {
    EXPECT_EQ(line.find("take turns"), std::string::npos);
  }
}

// Both on one: results stay right, and the trace says that times mean nothing.
TEST_F(GpuRanksTest, ProcessesThatShareAGpuSaySo) {
  const FakeCuda cuda({.num_devices = 1});
  const std::vector<Trace> traces = run(makers(), gathering(2));
  EXPECT_THAT(traces[0].assumptions, ::testing::Contains(HasSubstr("ranks take turns on a GPU")));
}

TEST_F(GpuRanksTest, WithoutADeviceNothingIsMade) {
  const FakeCuda cuda({.num_devices = 0});
  EXPECT_THAT(failure_of([] { gpu_rank_maker({}, {}); }), StartsWith("no CUDA device"));
  EXPECT_THAT(failure_of([] { require_gpu_memory({}, {}); }), "no Failure");
  EXPECT_THAT(failure_of([] { require_gpu_memory({gathering(2)}, {}); }),
              StartsWith("no CUDA device"));
}

TEST_F(GpuRanksTest, AGpuForEachRankIsNotThere) {
  const FakeCuda cuda({.num_devices = 1});
  GpuRanks each;
  each.one_gpu_each = true;
  EXPECT_THAT(failure_of([&] { make_gpu_executor(gathering(2), each); }),
              StartsWith("2 ranks on GPUs of their own, and this process sees 1; "));
}

// Two ranks of a Program, and processes that run three.
TEST_F(GpuRanksTest, AsManyProcessesAsRanks) {
  const FakeCuda cuda({.num_devices = 2});
  const Program program = gathering(2);
  Program of_three = program;
  of_three.num_ranks = 3;
  GroupTable groups;
  groups.update(program);
  ThreadPeers peers(of_three, make_host_script(program, groups, kDefaultHardwareQueues));
  try {
    makers().front()(program, peers.of(0));
    FAIL() << "no Error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("the program has 2 ranks and 3 of them are run"));
  }
}

TEST(GpuEnvironmentTest, NamesTheGpuItsLibrariesAndWhatTheyRead) {
  const FakeCuda cuda({.num_devices = 2});
  setenv("NCCL_ALGO", "Ring", 1);
  const std::vector<std::string> lines = gpu_environment(1);
  unsetenv("NCCL_ALGO");
  ASSERT_GE(lines.size(), 4U);
  EXPECT_THAT(lines[0], StartsWith("Fake GPU (sm_90, 132 SMs"));
  EXPECT_THAT(lines[0], HasSubstr(", 2 of them"));
  EXPECT_THAT(lines[1], HasSubstr("PCI 0000:01:00.0, highest clocks 1980 MHz"));
  EXPECT_THAT(lines[2], HasSubstr("cuBLASLt "));
  EXPECT_THAT(lines[2], HasSubstr(", NCCL 2."));
  EXPECT_THAT(lines, ::testing::Contains("NCCL_ALGO=Ring"));
}

// CUDA reads it when it starts, whichever of these starts it.
TEST(GpuEnvironmentTest, HardwareQueuesAreSetBeforeCudaIsCalled) {
  constexpr const char* kVariable = "CUDA_DEVICE_MAX_CONNECTIONS";
  GpuRanks ranks;
  ranks.cuda.hardware_queues = 4;
  GpuRanks each = ranks;
  each.one_gpu_each = true;
  const Program program = gathering(2);
  const auto tell = [](const std::string& own) { return std::vector{own}; };
  const std::vector<std::function<void()>> starts = {
      [&] { require_gpu(ranks); },
      [&] { require_gpu_memory({program}, ranks); },
      [&] { gpu_rank_maker(ranks, {.place = 0, .tell = tell}); },
      [&] { make_gpu_executor(program, ranks); },
      [&] { make_gpu_executor(program, each); },
  };
  for (std::size_t i = 0; i < starts.size(); ++i) {
    unsetenv(kVariable);
    const FakeCuda cuda({.num_devices = 2});
    fake_nccl::reset();
    starts[i]();
    EXPECT_EQ(cuda.queues_at_first_call(), "4") << "start " << i;
  }
  unsetenv(kVariable);
  const FakeCuda cuda({.fault = testing::Fault{"cudaMalloc", 1, cudaErrorMemoryAllocation}});
  EXPECT_THAT(failure_of([] { run_gpu_probes({.hardware_queues = 4}); }),
              StartsWith("cudaMalloc failed"));
  EXPECT_EQ(cuda.queues_at_first_call(), "4");
  unsetenv(kVariable);
}

// y of 2 * 600,000 FP32 are 4.8 MB for each of two ranks: too much for 8 MiB together, not for
// devices of their own. The first Program fits.
TEST(GpuMemoryTest, OfAllProgramsIsAskedForBeforeOneRuns) {
  const FakeCuda cuda({.num_devices = 2, .memory_bytes = int64_t{8} << 20});
  Program small = gathering(2);
  Program large = gathering(600'000);
  small.name = "small";
  large.name = "large";
  GpuRanks each;
  each.one_gpu_each = true;
  EXPECT_THAT(failure_of([&] {
                require_gpu_memory({small, large}, {});
              }),
              StartsWith("large: the Program needs "));
  EXPECT_EQ(failure_of([&] { require_gpu_memory({small, large}, each); }), "no Failure");
  EXPECT_EQ(cuda.calls().count("cudaMalloc"), 0U);
}

// The gather is a step of each rank, of 1 us: it reads 2 rows of 4 bytes of each rank and writes
// them.
TEST(GpuKernelsTest, AreTimedByName) {
  const FakeCuda cuda({.kernel_time = Time::from_picoseconds(1'000'000)});
  const Program program = gathering(2);
  TensorStore tensors = filled(program, {0, 1});
  const std::vector<KernelTime> times = time_gpu_kernels(program, {}, tensors);
  ASSERT_EQ(times.size(), 1U);
  EXPECT_EQ(times[0].name, "combine_pieces");
  EXPECT_EQ(times[0].count, 2);
  EXPECT_NEAR(times[0].total.seconds(), 2e-6, 1e-12);
  EXPECT_NEAR(times[0].mean_seconds(), 1e-6, 1e-12);
  EXPECT_EQ(times[0].flops, 0);
  for (int rank = 0; rank < kNumRanks; ++rank) {
    const float* y = tensors.values(rank, 1);
    EXPECT_THAT(std::vector<float>(y, y + 4), ElementsAre(0, 1, 10, 11));
  }
  EXPECT_EQ(cuda.num_live_handles(), 0);
}

}  // namespace
}  // namespace moesim
