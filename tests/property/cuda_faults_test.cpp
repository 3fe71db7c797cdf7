// Every call that the CUDA backend makes and that can fail is made to fail, at its first, middle
// and last time: the error names the call, and whatever was made is given back.
#include <algorithm>
#include <array>

#include <gmock/gmock.h>

#include "kernels/cuda/cuda_call.h"
#include "kernels/cuda/cuda_executor.h"
#include "tests/property/cuda_runs.h"
#include "tests/property/equality_model.h"
#include "tests/support/fake_cuda/fake_cuda.h"

namespace moesim {
namespace {

using testing::FakeCuda;
using testing::Fault;
using ::testing::HasSubstr;

Program small_program() {
  Program program = testing::two_chunks("fsmoe", testing::equality_model());
  Task wait;  // the host's, for the last task
  wait.name = "host_wait";
  wait.kind = "host_wait";
  wait.descriptor = HostWait{};
  wait.waits = {static_cast<int>(program.tasks.size()) - 1};
  program.tasks.push_back(wait);
  Task spin;
  spin.name = "spin";
  spin.stream = 0;
  spin.kind = "fixed";
  spin.descriptor = Fixed{Time::from_picoseconds(1'000'000)};
  program.tasks.push_back(spin);
  return program;
}

Program without_host_waits(Program program) {
  program.tasks.resize(program.tasks.size() - 2);
  return program;
}

// What a run throws; empty where it throws nothing.
std::string error_of(const Program& program, bool uses_graph, const Fault& fault) {
  const FakeCuda cuda({.num_devices = 2, .fault = fault});
  std::string error;
  try {
    testing::cuda_results(program, {.gemm_sms = 16, .uses_graph = uses_graph});
  } catch (const Failure& failure) {
    error = failure.what();
  }
  EXPECT_EQ(cuda.num_live_handles(), 0);
  return error;
}

std::map<std::string, int> calls_of(const Program& program, bool uses_graph) {
  const FakeCuda cuda({.num_devices = 2});
  testing::cuda_results(program, {.gemm_sms = 16, .uses_graph = uses_graph});
  return cuda.calls();
}

// What the error says of a call that failed.
std::string said_of(const std::string& call) {
  if (call == "cudaGetDeviceCount") {
    return "no CUDA device";
  }
  return call == "launch_kernel" ? "failed" : call + " failed";
}

void fail_each(const Program& program, bool uses_graph) {
  constexpr int kStatus = 700;  // illegal address
  const std::map<std::string, int> calls = calls_of(program, uses_graph);
  EXPECT_GE(calls.size(), 25U);
  for (const auto& [call, count] : calls) {
    for (const int number : {1, (count + 1) / 2, count}) {
      SCOPED_TRACE(call + " " + std::to_string(number) + " of " + std::to_string(count));
      const std::string error = error_of(program, uses_graph, {call, number, kStatus});
      if (call == "cudaGetDeviceCount" && number > 1) {
        continue;  // there are no other devices then
      }
      EXPECT_THAT(error, HasSubstr(said_of(call)));
    }
  }
}

TEST(CudaFaultsTest, EachCallIsChecked) {
  fail_each(small_program(), false);
}

TEST(CudaFaultsTest, EachCallForAGraphIsChecked) {
  fail_each(without_host_waits(small_program()), true);
}

// A kernel that fails while it runs is seen by the first who waits.
TEST(CudaFaultsTest, KernelsFailLater) {
  const Program program = small_program();
  for (const int number : {1, 40, 400}) {
    const std::string error = error_of(program, false, {"kernel", number, 700});
    EXPECT_TRUE(error.find("cudaStreamSynchronize failed") != std::string::npos ||
                error.find("cudaEventSynchronize failed") != std::string::npos)
        << error;
  }
}

// Before anything runs or is allocated.
TEST(CudaFaultsTest, TooLittleMemoryIsToldFirst) {
  const FakeCuda cuda({.memory_bytes = int64_t{1} << 20});
  try {
    testing::cuda_results(small_program(), {});
    FAIL() << "it ran";
  } catch (const Failure& failure) {
    EXPECT_THAT(failure.what(), HasSubstr("of device memory and 1 MiB of 1 MiB are free: tensors"));
    EXPECT_THAT(failure.what(), HasSubstr("the largest, over all ranks: "));
  }
  EXPECT_FALSE(cuda.calls().contains("cudaMalloc"));
  EXPECT_FALSE(cuda.calls().contains("launch_kernel"));
}

}  // namespace
}  // namespace moesim
