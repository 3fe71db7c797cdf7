// Ranks on threads whose calls of CUDA and NCCL fail, each once: the error names the call, on
// whatever rank it was; the others, which wait for that rank, are ended; and what was made is given
// back.
#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

#include <gmock/gmock.h>

#include "kernels/cuda/nccl/nccl_threads.h"
#include "tests/property/cuda_runs.h"
#include "tests/property/equality_model.h"
#include "tests/support/fake_cuda/fake_cuda.h"
#include "tests/support/fake_nccl/fake_nccl.h"

namespace moesim {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using testing::FakeCuda;
using testing::Fault;
using ::testing::HasSubstr;

class NcclFaultsTest : public ::testing::Test {
 protected:
  NcclFaultsTest() { start_afresh(); }

  static void start_afresh() {
    unsetenv("CUDA_DEVICE_MAX_CONNECTIONS");
    fake_nccl::reset();
    fake_nccl::set_enqueue([](cudaStream_t stream, fake_nccl::StreamWork work) {
      FakeCuda::add_attempt(stream, std::move(work));
    });
  }

  static void run(const Program& program) {
    NcclOptions options;
    options.cuda.rounding = Rounding::kExact;
    options.native_all_to_all = true;
    TensorStore tensors = testing::exact_inputs(program);
    NcclThreads(program, options).run(tensors);
  }

  // What a run throws; empty where it throws nothing.
  static std::string error_of(const Program& program, std::optional<Fault> fault = {}) {
    const FakeCuda cuda({.num_devices = program.num_ranks, .fault = std::move(fault)});
    std::string error;
    try {
      run(program);
    } catch (const Failure& failure) {
      error = failure.what();
    }
    EXPECT_EQ(cuda.num_live_handles(), 0);
    EXPECT_EQ(fake_nccl::num_communicators(), 0);
    return error;
  }

  static std::map<std::string, int> calls_of(const Program& program) {
    const FakeCuda cuda({.num_devices = program.num_ranks});
    run(program);
    return cuda.calls();
  }

  // With a host wait.
  static Program small_program() {
    Program program = testing::two_chunks("fsmoe", testing::equality_model());
    Task wait;
    wait.name = "host_wait";
    wait.kind = "host_wait";
    wait.descriptor = HostWait{};
    wait.waits = {static_cast<int>(program.tasks.size()) - 1};
    program.tasks.push_back(wait);
    return program;
  }
};

TEST_F(NcclFaultsTest, EachCallOfCudaIsChecked) {
  const Program program = small_program();
  for (const auto& [call, count] : calls_of(program)) {
    if (call == "cudaGetDriverEntryPointByVersion" || call == "launch_kernel") {
      continue;  // no error of its own, and one with a kernel's name
    }
    // How often the watch asks depends on the time.
    const int number =
        call == "cudaEventQuery" || call == "cudaGetDeviceCount" ? 1 : (count + 1) / 2;
    SCOPED_TRACE(call + " " + std::to_string(number) + " of " + std::to_string(count));
    start_afresh();
    const std::string said = call == "cudaGetDeviceCount" ? "no CUDA device" : call + " failed";
    EXPECT_THAT(error_of(program, Fault{call, number, 700}), HasSubstr(said));
  }
}

TEST_F(NcclFaultsTest, EachCallOfNcclIsChecked) {
  const Program program = small_program();
  for (const char* call : {"ncclGetUniqueId",
                           "ncclGetVersion",
                           "ncclCommInitRankConfig",
                           "ncclCommSplit",
                           "ncclCommGetAsyncError",
                           "ncclGroupStart",
                           "ncclGroupEnd",
                           "ncclAllGather",
                           "ncclReduceScatter",
                           "ncclAllReduce",
                           "ncclAlltoAll"}) {
    for (const int number : {1, 2}) {
      SCOPED_TRACE(call + (" " + std::to_string(number)));
      start_afresh();
      fake_nccl::fail(call, number, ncclSystemError);
      const std::string error = error_of(program);
      if (number > 1 && std::string(call) == "ncclGetUniqueId") {
        EXPECT_EQ(error, "");  // one rank calls it, once
      } else {
        EXPECT_THAT(error, AllOf(HasSubstr(call), HasSubstr("failed: unhandled system error")));
      }
    }
  }
}

// The results are there already.
TEST_F(NcclFaultsTest, WhatCannotBeClosedIsAborted) {
  const Program program = small_program();
  for (const char* call : {"ncclCommFinalize", "ncclCommDestroy"}) {
    start_afresh();
    fake_nccl::fail(call, 3, ncclSystemError);
    EXPECT_EQ(error_of(program), "");
  }
}

// A kernel that fails shows when its rank waits for the device; the others hear of it.
TEST_F(NcclFaultsTest, KernelsFailLater) {
  EXPECT_THAT(error_of(small_program(), Fault{"kernel", 100, 700}),
              AnyOf(HasSubstr("cudaStreamSynchronize failed"),
                    HasSubstr("cudaEventSynchronize failed"),
                    HasSubstr("cudaEventQuery failed")));
}

// Rank 2's process is gone, as its NCCL finds out while the ranks make their communicators.
TEST_F(NcclFaultsTest, APeersDeathEndsAll) {
  const Program program = small_program();
  std::atomic<bool> is_over = false;
  std::thread killer([&is_over] {
    while (fake_nccl::num_communicators() < 8 && !is_over) {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    fake_nccl::raise(2, ncclRemoteError);
  });
  EXPECT_THAT(error_of(program), HasSubstr("remote process exited or there was a network error"));
  is_over = true;
  killer.join();
}

}  // namespace
}  // namespace moesim
