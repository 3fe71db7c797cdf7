// A Program whose attention the executor fuses, on fakes of CUDA and cuDNN, beside the same by
// products.
#include <cmath>

#include <gtest/gtest.h>

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

// Both round to BF16, 8 bits, at up to four places one behind the other.
TEST(FusedProgramTest, IsNearToProducts) {
  constexpr double kTolerance = 4.0 / 256;
  const Program program = attention_program();
  const testing::FakeCuda cuda;
  const TensorStore expected = results_of(program, {});
  EXPECT_FALSE(cuda.calls().contains("cudnnBackendExecute"));
  const TensorStore actual =
      results_of(program, [] { return std::make_unique<CudnnAttention>(testing::fake_cudnn()); });
  EXPECT_EQ(cuda.calls().at("cudnnBackendExecute"), 3);  // forward, statistics, backward
  for (int tensor = 0; tensor < static_cast<int>(program.tensors.size()); ++tensor) {
    const Tensor& shape = program.tensors[static_cast<size_t>(tensor)];
    const int64_t count = int64_t{shape.blocks} * shape.rows * shape.columns;
    double difference = 0;
    double norm = 0;
    for (int64_t i = 0; i < count; ++i) {
      const double right = expected.values(0, tensor)[i];
      difference += std::pow(actual.values(0, tensor)[i] - right, 2);
      norm += right * right;
    }
    EXPECT_LE(std::sqrt(difference / norm), kTolerance) << shape.name;
  }
}

}  // namespace
}  // namespace moesim
