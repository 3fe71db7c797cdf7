// A Program whose attention the executor fuses, on fakes of CUDA and cuDNN, beside the same by
// products.
#include <gtest/gtest.h>

#include "kernels/attention_comparison.h"
#include "kernels/cuda/cuda_executor.h"
#include "kernels/cuda/cudnn/cudnn_attention.h"
#include "kernels/inputs.h"
#include "tests/support/fake_cuda/fake_cuda.h"
#include "tests/support/fake_cudnn/fake_cudnn.h"
#include "tests/unit/kernels/device/device_bench.h"

namespace moesim {
namespace {

// Two samples of 6 tokens, 4 heads of 8 columns, of which two share keys and values.
Program attention_program() {
  testing::DeviceBench bench;
  constexpr int kQkv = (4 + 2 * 2) * 8;
  const auto tensor = [&](int blocks, int rows, int columns, bool input) {
    return bench.tensor(blocks, rows, columns, input, DataType::kBf16);
  };
  const int x = tensor(2, 6, 16, true);
  const int w = tensor(1, kQkv + 32, 16, true);
  const int dy = tensor(2, 6, 16, true);
  const int qkv = tensor(2, 6, kQkv, false);
  const int context = tensor(2, 6, 32, false);
  bench.add(Attention{4, 2, 8, true}, {x, w}, {qkv, context, tensor(2, 6, 16, false)});
  bench.add(Attention{4, 2, 8, true},
            {dy, x, qkv, context, w},
            {tensor(2, 6, kQkv, false), tensor(2, 6, 16, false), tensor(1, kQkv + 32, 16, false)},
            Pass::kBackward);
  return bench.program();
}

TensorStore results_of(const Program& program, const MakeFusedAttention& make) {
  TensorStore tensors(program);
  fill_inputs(InputData::kReal, tensors);
  CudaExecutor executor(program,
                        {.storage = Storage::kOwnType, .keeps_all = true, .make_attention = make});
  executor.run(tensors);
  return tensors;
}

TEST(FusedProgramTest, IsNearToProducts) {
  const Program program = attention_program();
  const testing::FakeCuda cuda;
  const TensorStore expected = results_of(program, {});
  EXPECT_FALSE(cuda.calls().contains("cudnnBackendExecute"));
  const TensorStore actual =
      results_of(program, [] { return std::make_unique<CudnnAttention>(testing::fake_cudnn()); });
  EXPECT_EQ(cuda.calls().at("cudnnBackendExecute"), 3);  // forward, statistics, backward
  const AttentionCase result = compare_attention(actual, expected, 3);
  EXPECT_EQ(result.failure, "");
  EXPECT_EQ(result.num_buffers, 9);
  EXPECT_LE(result.largest_error, kFusedAttentionTolerance);
  EXPECT_GT(result.largest_error, 0);
}

// What tests/gpu/run.sh compares fuses as many steps: forward, and backward with the statistics
// anew.
TEST(FusedProgramTest, TheGpuChecksProgramIsFused) {
  const Program program = load_program("tests/gpu/attention.txtpb");
  const testing::FakeCuda cuda;
  CudnnAttention attention(testing::fake_cudnn());
  const LoadedProgram loaded(
      DeviceScript(program), {.storage = Storage::kOwnType, .keeps_all = true}, &attention);
  int num_fused = 0;
  for (const std::vector<DeviceStep>& steps : loaded.steps().tasks[0]) {
    for (const DeviceStep& step : steps) {
      num_fused += std::string(name_of(step.action)).starts_with("fused_attention") ? 1 : 0;
    }
  }
  EXPECT_EQ(num_fused, 3);
}

}  // namespace
}  // namespace moesim
