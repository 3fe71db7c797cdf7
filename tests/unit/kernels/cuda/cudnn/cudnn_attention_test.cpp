// Fused attention by a fake cuDNN, which evaluates the graph that it is given operation by
// operation, beside the same written as loops.
#include "kernels/cuda/cudnn/cudnn_attention.h"

#include <cmath>

#include <gmock/gmock.h>

#include "kernels/cuda/handles.h"
#include "kernels/cuda/step_launcher.h"
#include "tests/support/fake_cuda/fake_cuda.h"
#include "tests/support/fake_cudnn/fake_cudnn.h"
#include "tests/support/host_attention.h"
#include "tests/unit/kernels/cuda/cudnn/attention_trial.h"

namespace moesim {
namespace {

using testing::AttentionTrial;
using testing::FakeCuda;
using testing::Fault;
using ::testing::HasSubstr;

// Both passes on a stream, as lowered tasks have them.
void run(AttentionTrial& trial) {
  CudnnAttention attention(testing::fake_cudnn());
  trial.use_workspace(std::max(attention.workspace_bytes(trial.forward()).value(),
                               attention.workspace_bytes(trial.backward()).value()));
  const Stream stream = make_stream(StreamPriority::kLow);
  const StepLauncher launcher(0, &attention);
  launcher.launch({attention_step(trial.forward()), attention_step(trial.backward())},
                  {stream.get(), nullptr});
  check_cuda(cudaStreamSynchronize(stream.get()), "cudaStreamSynchronize");
}

// Over the norm of what is expected.
double distance(const std::vector<float>& actual, const std::vector<float>& expected) {
  EXPECT_EQ(actual.size(), expected.size());
  double difference = 0;
  double norm = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    difference += std::pow(double{actual[i]} - double{expected[i]}, 2);
    norm += std::pow(double{expected[i]}, 2);
  }
  return std::sqrt(difference / norm);
}

TEST(CudnnAttentionTest, GraphsAreAttention) {
  constexpr uint64_t kSeed = 20261130;
  // Both round the same numbers to BF16, 8 bits; their sums and exponentials differ in the last
  // bits of FP32, so that few roundings differ, by at most 2^-8 of an element.
  constexpr double kTolerance = 1.0 / 256;
  for (uint64_t trial = 0; trial < 60; ++trial) {
    SCOPED_TRACE(::testing::Message() << "seed " << kSeed << ", trial " << trial);
    Random random(kSeed, trial);
    const AttentionExtent extent = testing::random_extent(random);
    AttentionTrial expected(extent, random);
    Random again(kSeed, trial);
    testing::random_extent(again);
    AttentionTrial actual(extent, again);
    testing::attend_on_host(expected.forward());
    testing::attend_on_host(expected.backward());
    const FakeCuda cuda({.seed = trial});
    run(actual);
    ASSERT_LE(distance(actual.statistics(), expected.statistics()), 1e-5);
    ASSERT_LE(distance(actual.context(), expected.context()), kTolerance);
    ASSERT_LE(distance(actual.gradients(), expected.gradients()), kTolerance);
  }
}

AttentionExtent chunk() {
  return {.samples = 1,
          .heads = 2,
          .kv_heads = 1,
          .head_size = 8,
          .queries = 2,
          .keys = 3,
          .is_causal = true,
          .scale = 0.5};
}

// A plan for each direction, however often it is asked for; addresses do not count.
TEST(CudnnAttentionTest, IsPlannedOncePerShape) {
  const FakeCuda cuda;
  Random random(1, 0);
  const AttentionTrial trial(chunk(), random);
  const AttentionTrial other(chunk(), random);
  CudnnAttention attention(testing::fake_cudnn());
  attention.workspace_bytes(trial.forward());
  const int once = cuda.calls().at("cudnnBackendCreateDescriptor");
  attention.workspace_bytes(other.forward());
  EXPECT_EQ(cuda.calls().at("cudnnBackendCreateDescriptor"), once);
  attention.workspace_bytes(trial.backward());
  EXPECT_GT(cuda.calls().at("cudnnBackendCreateDescriptor"), once);
}

// 2 heads x 2 queries x 4 bytes and 8 times as many, each in whole 256 bytes; the fake's kernel
// takes 512.
TEST(CudnnAttentionTest, WorkspaceHasRoomForSums) {
  const FakeCuda cuda;
  Random random(1, 0);
  const AttentionTrial trial(chunk(), random);
  CudnnAttention attention(testing::fake_cudnn());
  EXPECT_EQ(attention.workspace_bytes(trial.forward()), 512);
  EXPECT_EQ(attention.workspace_bytes(trial.backward()), 256 + 256 + 512);
}

std::map<std::string, int> calls_of_run() {
  const FakeCuda cuda;
  Random random(1, 0);
  AttentionTrial trial(chunk(), random);
  run(trial);
  return cuda.calls();
}

std::string error_of(const Fault& fault) {
  const FakeCuda cuda({.fault = fault});
  Random random(1, 0);
  AttentionTrial trial(chunk(), random);
  std::string error;
  try {
    run(trial);
  } catch (const CudaError& failure) {
    error = failure.what();
  }
  EXPECT_EQ(cuda.num_live_handles(), 0);
  return error;
}

TEST(CudnnAttentionTest, EveryCallThatFailsIsNamed) {
  int tried = 0;
  for (const auto& [call, count] : calls_of_run()) {
    if (!call.starts_with("cudnn")) {
      continue;
    }
    ++tried;
    for (int number = 1; number <= count; ++number) {
      SCOPED_TRACE(call + " " + std::to_string(number) + " of " + std::to_string(count));
      ASSERT_THAT(error_of({call, number, CUDNN_STATUS_INTERNAL_ERROR}),
                  HasSubstr(call + " failed: CUDNN_STATUS_FAKE"));
    }
  }
  EXPECT_EQ(tried, 7);  // functions that can fail
}

// Whatever cuDNN refuses on the way to a plan: attention is computed by products then.
TEST(CudnnAttentionTest, RefusalsAreNoErrors) {
  Random random(1, 0);
  const AttentionTrial trial(chunk(), random);
  int finalized = 0;
  {
    const FakeCuda cuda;
    CudnnAttention attention(testing::fake_cudnn());
    attention.workspace_bytes(trial.forward());
    finalized = cuda.calls().at("cudnnBackendFinalize");
  }
  for (int number = 2; number <= finalized; ++number) {  // the first is the device's
    const FakeCuda cuda(
        {.fault = Fault{"cudnnBackendFinalize", number, CUDNN_STATUS_NOT_SUPPORTED}});
    CudnnAttention attention(testing::fake_cudnn());
    EXPECT_EQ(attention.workspace_bytes(trial.forward()), std::nullopt) << number;
    EXPECT_EQ(attention.workspace_bytes(trial.forward()), std::nullopt) << "asked again";
  }
}

TEST(CudnnAttentionTest, OldVersionsAreRefused) {
  CudnnFunctions old = testing::fake_cudnn();
  old.get_version = [] { return size_t{91501}; };
  try {
    require_version(old);
    FAIL() << "9.15.1 was taken";
  } catch (const Failure& failure) {
    EXPECT_THAT(failure.what(), HasSubstr("cuDNN 9.15.1 is too old for fused attention"));
  }
}

}  // namespace
}  // namespace moesim
