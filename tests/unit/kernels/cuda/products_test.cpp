// Products by a fake cuBLASLt, whose matrices stand column after column as cuBLASLt's do, against
// sums over their elements: right only where the factors change places as they must.
#include <algorithm>
#include <vector>

#include <gmock/gmock.h>

#include "kernels/cuda/handles.h"
#include "kernels/cuda/step_launcher.h"
#include "sim/base/random.h"
#include "tests/support/fake_cuda/fake_cuda.h"

namespace moesim {
namespace {

using testing::FakeCuda;

// Elements of one type in host memory, which is the fake's device memory.
struct Buffer {
  Buffer(ElementType type, int64_t count) : bytes(static_cast<size_t>(count * size_of(type))) {
    at = {reinterpret_cast<DeviceAddress>(bytes.data()), type};
  }

  std::vector<std::byte> bytes;
  Elements at;
};

struct Trial {
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t depth = 0;
  bool transposes_left = false;
  bool transposes_right = false;
  bool adds = false;
  int batch = 1;
  ElementType factors = ElementType::kFloat32;
  ElementType target = ElementType::kFloat32;
};

Trial random_trial(Random& random) {
  const auto is_heads = [&] { return random.uniform() < 0.5; };
  Trial trial{random.uniform_int(1, 6), random.uniform_int(1, 6), random.uniform_int(1, 6)};
  trial.transposes_left = is_heads();
  trial.transposes_right = is_heads();
  trial.adds = is_heads();
  trial.batch = static_cast<int>(random.uniform_int(1, 3));
  if (is_heads()) {
    trial.factors = ElementType::kBfloat16;
    trial.target = is_heads() ? ElementType::kBfloat16 : ElementType::kFloat32;
  }
  return trial;
}

// A matrix of small integers, whose rows have room behind them.
DeviceMatrix matrix(const Buffer& buffer, int64_t rows, int64_t columns, bool is_transposed) {
  DeviceMatrix view{buffer.at, rows, columns, columns + 2, false};
  return is_transposed ? DeviceMatrix{buffer.at, columns, rows, rows + 2, false}.transposed()
                       : view;
}

float element(const DeviceMatrix& matrix, int64_t row, int64_t column) {
  return matrix.at.load(matrix.is_transposed ? column * matrix.stride + row
                                             : row * matrix.stride + column);
}

constexpr int64_t kStep = 100;  // between the matrices of a batch: beyond any of them
constexpr int64_t kSize = 3 * kStep;

void fill(Random& random, const Buffer& buffer) {
  for (int64_t i = 0; i < kSize; ++i) {
    buffer.at.store(i, static_cast<float>(random.uniform_int(-3, 3)));
  }
}

std::vector<float> values(const Buffer& buffer) {
  std::vector<float> values;
  for (int64_t i = 0; i < kSize; ++i) {
    values.push_back(buffer.at.load(i));
  }
  return values;
}

// Sums of six terms of at most 9 and one of 3 are integers below 256: exact in BF16.
std::vector<float> expected(const Product& product, const Buffer& target) {
  std::vector<float> result = values(target);
  for (int batch = 0; batch < product.batch; ++batch) {
    DeviceMatrix left = product.left;
    DeviceMatrix right = product.right;
    left.at = left.at.from(batch * product.left_step);
    right.at = right.at.from(batch * product.right_step);
    for (int64_t row = 0; row < product.rows(); ++row) {
      for (int64_t column = 0; column < product.columns(); ++column) {
        const int64_t at = batch * product.target_step + row * product.target_stride + column;
        float& sum = result[static_cast<size_t>(at)];
        sum = product.add ? sum : 0;
        for (int64_t k = 0; k < product.depth(); ++k) {
          sum += element(left, row, k) * element(right, k, column);
        }
      }
    }
  }
  return result;
}

TEST(ProductsTest, AreThoseOfTheirElements) {
  constexpr uint64_t kSeed = 20261130;
  constexpr int kNumTrials = 500;
  for (int i = 0; i < kNumTrials; ++i) {
    SCOPED_TRACE(::testing::Message() << "seed " << kSeed << ", trial " << i);
    Random random(kSeed, static_cast<uint64_t>(i));
    const Trial trial = random_trial(random);
    const Buffer left(trial.factors, kSize);
    const Buffer right(trial.factors, kSize);
    const Buffer target(trial.target, kSize);
    fill(random, left);
    fill(random, right);
    fill(random, target);
    const Product product{
        .left = matrix(left, trial.rows, trial.depth, trial.transposes_left),
        .right = matrix(right, trial.depth, trial.columns, trial.transposes_right),
        .target = target.at,
        .target_stride = trial.columns + 1,
        .add = trial.adds,
        .batch = trial.batch,
        .left_step = kStep,
        .right_step = kStep,
        .target_step = kStep};
    const std::vector<float> sums = expected(product, target);
    const FakeCuda cuda;
    const Stream stream = make_stream(StreamPriority::kLow);
    const DeviceMemory workspace = make_device_memory(kProductWorkspace);
    StepLauncher launcher(0);
    const std::vector<DeviceStep> steps = {products_step({{product}})};
    launcher.prepare(steps);
    launcher.launch(steps, {stream.get(), workspace.get()});
    check_cuda(cudaStreamSynchronize(stream.get()), "cudaStreamSynchronize");
    ASSERT_EQ(values(target), sums);
  }
}

// Two products of one shape and one of another: descriptors and algorithms of two.
TEST(ProductsTest, AreChosenOncePerShape) {
  const FakeCuda cuda;
  const Buffer left(ElementType::kFloat32, kSize);
  const Buffer right(ElementType::kFloat32, kSize);
  const Buffer target(ElementType::kFloat32, kSize);
  const auto product = [&](int64_t rows) {
    return Product{.left = matrix(left, rows, 4, false),
                   .right = matrix(right, 4, 4, false),
                   .target = target.at,
                   .target_stride = 4};
  };
  StepLauncher launcher(64);
  launcher.prepare({products_step({{product(2), product(2), product(3)}})});
  EXPECT_EQ(cuda.calls().at("cublasLtMatmulAlgoGetHeuristic"), 2);
  // Both transpositions and the target of SMs.
  EXPECT_EQ(cuda.calls().at("cublasLtMatmulDescSetAttribute"), 2 * 3);
}

// It says so by a status, too, where a product is beyond it.
TEST(ProductsTest, ThatHaveNoAlgorithmAreNamed) {
  const FakeCuda cuda(
      {.fault = testing::Fault{"cublasLtMatmulAlgoGetHeuristic", 1, CUBLAS_STATUS_NOT_SUPPORTED}});
  const Buffer buffer(ElementType::kFloat32, kSize);
  const Product product{.left = matrix(buffer, 2, 4, false),
                        .right = matrix(buffer, 4, 3, false),
                        .target = buffer.at,
                        .target_stride = 3};
  StepLauncher launcher(0);
  EXPECT_THAT([&] { launcher.prepare({products_step({{product}})}); },
              ::testing::ThrowsMessage<Failure>(
                  "cuBLASLt has no algorithm for a product of 2 x 4 and 4 x 3"));
}

// 256 bytes are what cuBLASLt counts on unless it is told; a row of three floats on, 12 = 3 * 4.
TEST(ProductsTest, AlignmentIsPartOfTheShape) {
  const auto product = [](DeviceAddress left) {
    const DeviceMatrix factor{{left, ElementType::kFloat32}, 3, 3, 3, false};
    const DeviceMatrix other{{1024, ElementType::kFloat32}, 3, 3, 3, false};
    return Product{.left = factor, .right = other, .target = {4096}, .target_stride = 3};
  };
  EXPECT_EQ(ProductShape(product(2048)).left.alignment, 256U);
  EXPECT_EQ(ProductShape(product(2048 + 12)).left.alignment, 4U);
  EXPECT_EQ(ProductShape(product(2048)).right.alignment, 256U);
}

}  // namespace
}  // namespace moesim
