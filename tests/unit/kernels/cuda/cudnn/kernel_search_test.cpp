// The real cuDNN, without a GPU: it is told of one by its properties and says whether it has
// kernels for our graphs on it. It wants a driver library to be there, not to work: CUDA's stub is
// enough, which CMake puts where the test looks. Skipped where either library is missing.
#include <dlfcn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "kernels/cuda/cudnn/attention_plan.h"
#include "tests/unit/kernels/cuda/cudnn/attention_trial.h"

namespace moesim {
namespace {

// What cuDNN asks a device for; the sizes are those of an A100 and of an H100.
std::string device_json(int version) {
  const bool is_ampere = version < 900;
  return fmt::format(
      R"({{"maxGridSize": [2147483647, 65535, 65535], "maxBlockSize": [1024, 1024, 64],
        "regsPerBlock": 65536, "multiProcessorCount": {}, "warpSize": 32,
        "maxSharedMemoryPerBlock": 49152, "maxSharedMemoryPerBlockOptin": {},
        "reservedSharedMemoryPerBlock": 1024, "maxRegistersPerSM": 65536, "maxCtasPerSM": 32,
        "maxThreadsPerBlock": 1024, "maxThreadsPerSM": 2048, "pciDeviceId": 0, "isTccDriver": 0,
        "supportCoopLaunch": 1, "totalGlobalMem": 85000000000, "smClockRateKHz": 1500000,
        "memClockRateKHz": 1500000, "l2CacheSize": 41943040, "cudaDeviceId": 0, "deviceVer": {},
        "driverVer": 13000, "deviceName": "described"}})",
      is_ampere ? 108 : 132,
      is_ampere ? 166912 : 232448,
      version);
}

class KernelSearchTest : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    void* driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (driver == nullptr) {
      GTEST_SKIP() << "no libcuda.so.1, not even a stub";
    }
    try {
      cudnn_ = open_cudnn();
    } catch (const Failure& failure) {
      GTEST_SKIP() << failure.what();
    }
  }

  template <typename Attention>
  bool has_kernel(const Attention& attention) const {
    try {
      const CudnnDescriptor device = cudnn_device(cudnn_, device_json(GetParam()));
      return !kernels_for(cudnn_, attention_graph(cudnn_, attention), device).empty();
    } catch (const CudnnRefusal&) {
      return false;
    }
  }
  void expect_kernels(const AttentionExtent& extent, bool forward, bool backward) const {
    Random random(1, 0);
    const testing::AttentionTrial trial(extent, random);
    EXPECT_EQ(has_kernel(trial.forward()), forward);
    EXPECT_EQ(has_kernel(trial.backward()), backward);
  }

  CudnnFunctions cudnn_;
};

AttentionExtent extent(int64_t head_size, int64_t queries, int64_t keys) {
  return {.samples = 2,
          .heads = 8,
          .kv_heads = 8,
          .head_size = head_size,
          .queries = queries,
          .keys = keys,
          .is_causal = true,
          .scale = 0.125};
}

TEST_P(KernelSearchTest, WholeSequences) {
  expect_kernels(extent(64, 512, 512), true, true);
  expect_kernels(extent(128, 512, 512), true, true);
  AttentionExtent all = extent(64, 512, 512);
  all.is_causal = false;
  expect_kernels(all, true, true);
}

TEST_P(KernelSearchTest, ChunksOfAnyLength) {
  expect_kernels(extent(64, 256, 512), true, true);
  expect_kernels(extent(64, 1, 7), true, true);
  expect_kernels(extent(128, 100, 301), true, true);
}

TEST_P(KernelSearchTest, HeadsThatShareKeys) {
  AttentionExtent shared = extent(128, 256, 512);
  shared.kv_heads = 2;
  expect_kernels(shared, true, true);
}

// Heads of 12 columns are not of 16 bytes' multiples. Backward, 128 columns are the most of an
// A100.
TEST_P(KernelSearchTest, SomeHeadsHaveNone) {
  expect_kernels(extent(12, 64, 64), false, false);
  expect_kernels(extent(256, 64, 64), true, GetParam() >= 900);
}

INSTANTIATE_TEST_SUITE_P(Devices, KernelSearchTest, ::testing::Values(800, 900), [](const auto& p) {
  return "sm" + std::to_string(p.param / 10);
});

}  // namespace
}  // namespace moesim
