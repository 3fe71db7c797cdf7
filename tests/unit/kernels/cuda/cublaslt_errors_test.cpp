// What cuBLASLt refuses, and how the error tells of it: the call, its error, file and line. The
// fake refuses as cuBLASLt does (its header, its documentation,
// tests/support/fake_cuda/cublaslt_contract.h).
#include <array>
#include <functional>

#include <gmock/gmock.h>

#include "kernels/cuda/handles.h"
#include "kernels/cuda/product_plan.h"
#include "tests/support/fake_cuda/cublaslt_contract.h"
#include "tests/support/fake_cuda/fake_cuda.h"

namespace moesim {
namespace {

using testing::FakeCuda;
using testing::FakeRefusal;
using ::testing::MatchesRegex;
using ::testing::ThrowsMessage;

constexpr int kSide = 4;
constexpr int64_t kElements = 1024;

auto throws_call(const std::string& call, const std::string& error) {
  return ThrowsMessage<CudaError>(MatchesRegex(call + " failed: " + error + " at .*\\.cpp:[0-9]+"));
}

auto throws_invalid_product() {
  return throws_call("cublasLtMatmul", "CUBLAS_STATUS_INVALID_VALUE");
}

// Device memory, a stream, and a product of two square matrices in it.
struct Bench {
  explicit Bench(const testing::FakeCudaOptions& options = {}) : cuda(options) {}

  Elements at(int64_t place, ElementType type = ElementType::kFloat32) const {
    return Elements{reinterpret_cast<DeviceAddress>(memory.get()), type}.from(place);
  }
  DeviceMatrix factor(int64_t place) const { return {at(place), kSide, kSide, kSide, false}; }
  Product product() const {
    return {.left = factor(0), .right = factor(64), .target = at(128), .target_stride = kSide};
  }
  ProductPlan plan() const { return {cublas.get(), ProductShape(product()), 0}; }
  void run(const ProductPlan& plan, const Product& product) const {
    plan.run(product, workspace.get(), stream.get());
    check_cuda(cudaStreamSynchronize(stream.get()), "cudaStreamSynchronize");
  }

  FakeCuda cuda;
  CublasHandle<cublasLtHandle_t> cublas = make_cublas();
  DeviceMemory memory = make_device_memory(kElements * 4);
  DeviceMemory workspace = make_device_memory(kProductWorkspace);
  Stream stream = make_stream(StreamPriority::kLow);
};

TEST(CublasLtErrorsTest, TheFakeKeepsTheContract) {
  const FakeCuda cuda;
  testing::expect_contract_of_cublaslt();
  EXPECT_EQ(cuda.num_live_handles(), 0);
}

TEST(CublasLtErrorsTest, ADriverIsMissing) {
  const FakeCuda cuda({.num_devices = 0});
  EXPECT_THAT([] { make_cublas(); },
              throws_call("cublasLtCreate", "CUBLAS_STATUS_NOT_INITIALIZED"));
}

// Success without a result, or with one that cannot be used.
TEST(CublasLtErrorsTest, ThereIsNoAlgorithm) {
  for (const FakeRefusal refusal : {FakeRefusal::kNoResult, FakeRefusal::kUnfitResult}) {
    const Bench bench({.refusal = refusal});
    EXPECT_THAT([&] { bench.plan(); },
                ThrowsMessage<Failure>("cuBLASLt has no algorithm for a product of 4 x 4 and 4 x "
                                       "4"));
  }
}

// No line of the documentation's table: factors of FP32 for a result of BF16.
TEST(CublasLtErrorsTest, TypesAreNotMultiplied) {
  const Bench bench;
  Product product = bench.product();
  product.target = bench.at(128, ElementType::kBfloat16);
  EXPECT_THAT([&] { ProductPlan(bench.cublas.get(), ProductShape(product), 0); },
              ThrowsMessage<Failure>("cuBLASLt has no algorithm for a product of 4 x 4 and 4 x 4"));
}

TEST(CublasLtErrorsTest, AProductIsImpossible) {
  const Bench bench;
  ProductShape shape(bench.product());
  shape.right.rows = kSide + 1;
  EXPECT_THAT([&] { ProductPlan(bench.cublas.get(), shape, 0); },
              throws_call("cublasLtMatmulAlgoGetHeuristic", "CUBLAS_STATUS_INVALID_VALUE"));
}

TEST(CublasLtErrorsTest, TheWorkspaceIsMissingOrMisplaced) {
  const Bench bench;
  const ProductPlan plan = bench.plan();
  EXPECT_THAT([&] { plan.run(bench.product(), nullptr, bench.stream.get()); },
              throws_invalid_product());
  void* between = static_cast<std::byte*>(bench.workspace.get()) + 16;
  EXPECT_THAT([&] { plan.run(bench.product(), between, bench.stream.get()); },
              throws_invalid_product());
  bench.run(plan, bench.product());
}

TEST(CublasLtErrorsTest, AFactorIsMissing) {
  const Bench bench;
  Product product = bench.product();
  product.left.at.address = 0;
  EXPECT_THAT([&] { bench.run(bench.plan(), product); }, throws_invalid_product());
}

// The plan counts on 256 bytes: a kernel that is given less faults, which the next to wait is told.
TEST(CublasLtErrorsTest, AnAddressIsLessAlignedThanThePlanCountsOn) {
  for (const auto& matrix : std::array<std::function<Elements&(Product&)>, 3>{
           [](Product& product) -> Elements& { return product.left.at; },
           [](Product& product) -> Elements& { return product.right.at; },
           [](Product& product) -> Elements& { return product.target; }}) {
    {
      const Bench bench;  // its device is lost
      Product product = bench.product();
      matrix(product) = matrix(product).from(1);
      EXPECT_THAT([&] { bench.run(bench.plan(), product); },
                  throws_call("cudaStreamSynchronize",
                              "misaligned address \\(cudaErrorMisalignedAddress\\)"));
    }
    const Bench bench;
    Product product = bench.product();
    matrix(product) = matrix(product).from(1);
    bench.run(ProductPlan(bench.cublas.get(), ProductShape(product), 0), product);
  }
}

// cublasLtMatmul as ProductPlan calls it, for what no ProductPlan does.
struct Call {
  explicit Call(const Bench& bench) : handle(bench.cublas.get()), product(bench.product()) {
    check_cublas(cublasLtMatmulDescCreate(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F), "create");
    for (cublasLtMatrixLayout_t* layout : {&factor, &c, &d}) {
      check_cublas(cublasLtMatrixLayoutCreate(layout, CUDA_R_32F, kSide, kSide, kSide), "create");
    }
    check_cublas(cublasLtMatmulPreferenceCreate(&preference), "create");
    owned_operation.reset(operation);
    owned_factor.reset(factor);
    owned_c.reset(c);
    owned_d.reset(d);
    owned_preference.reset(preference);
  }

  cublasLtMatmulHeuristicResult_t choose() const {
    cublasLtMatmulHeuristicResult_t result{};
    int num_results = 0;
    check_cublas(cublasLtMatmulAlgoGetHeuristic(
                     handle, operation, factor, factor, c, d, preference, 1, &result, &num_results),
                 "cublasLtMatmulAlgoGetHeuristic");
    return result;
  }

  void run(const cublasLtMatmulAlgo_t* algorithm) const {
    const auto address = [](const Elements& at) { return reinterpret_cast<void*>(at.address); };
    void* target = address(product.target);
    check_cublas(cublasLtMatmul(handle,
                                operation,
                                &alpha,
                                address(product.right.at),
                                factor,
                                address(product.left.at),
                                factor,
                                &beta,
                                separate_c == 0 ? target : address(product.target.from(separate_c)),
                                c,
                                target,
                                d,
                                algorithm,
                                nullptr,
                                0,
                                nullptr),
                 "cublasLtMatmul");
  }

  template <typename Value>
  void set(cublasLtMatmulDescAttributes_t which, Value value) const {
    check_cublas(cublasLtMatmulDescSetAttribute(operation, which, &value, sizeof(value)), "set");
  }
  template <typename Value>
  void set(cublasLtMatrixLayout_t layout,
           cublasLtMatrixLayoutAttribute_t which,
           Value value) const {
    check_cublas(cublasLtMatrixLayoutSetAttribute(layout, which, &value, sizeof(value)), "set");
  }

  cublasLtHandle_t handle;
  Product product;
  cublasLtMatmulDesc_t operation = nullptr;
  cublasLtMatrixLayout_t factor = nullptr;
  cublasLtMatrixLayout_t c = nullptr;
  cublasLtMatrixLayout_t d = nullptr;
  cublasLtMatmulPreference_t preference = nullptr;
  CublasHandle<cublasLtMatmulDesc_t> owned_operation;
  CublasHandle<cublasLtMatrixLayout_t> owned_factor;
  CublasHandle<cublasLtMatrixLayout_t> owned_c;
  CublasHandle<cublasLtMatrixLayout_t> owned_d;
  CublasHandle<cublasLtMatmulPreference_t> owned_preference;
  float alpha = 1;
  float beta = 0;
  int64_t separate_c = 0;  // elements behind the target; 0: in its place
};

TEST(CublasLtErrorsTest, AnAlgorithmIsForItsProblemAlone) {
  const Bench bench;
  const Call call(bench);
  const cublasLtMatmulAlgo_t algorithm = call.choose().algo;
  call.run(&algorithm);
  call.run(nullptr);  // that of default preferences
  const cublasLtMatmulAlgo_t none{};
  EXPECT_THAT([&] { call.run(&none); }, throws_invalid_product());
  call.set(CUBLASLT_MATMUL_DESC_TRANSA, int32_t{CUBLAS_OP_T});
  EXPECT_THAT([&] { call.run(&algorithm); }, throws_invalid_product());
}

// In place both layouts must be the same; out of place they need not be.
TEST(CublasLtErrorsTest, CStandsInPlaceWithItsOwnLayout) {
  const Bench bench;
  Call call(bench);
  call.set(call.c, CUBLASLT_MATRIX_LAYOUT_LD, int64_t{kSide + 1});
  const cublasLtMatmulAlgo_t algorithm = call.choose().algo;
  EXPECT_THAT([&] { call.run(&algorithm); }, throws_invalid_product());
  call.separate_c = 64;
  call.run(&algorithm);
}

TEST(CublasLtErrorsTest, AttributesArePossibleAndSupported) {
  const Bench bench;
  const auto refusal = [&](const auto& change, const char* error) {
    const Call call(bench);
    change(call);
    EXPECT_THAT([&] { call.choose(); }, throws_call("cublasLtMatmulAlgoGetHeuristic", error));
    EXPECT_THAT([&] { call.run(nullptr); }, throws_call("cublasLtMatmul", error));
  };
  constexpr const char* kInvalid = "CUBLAS_STATUS_INVALID_VALUE";
  constexpr const char* kUnsupported = "CUBLAS_STATUS_NOT_SUPPORTED";
  const auto operation = [](cublasLtMatmulDescAttributes_t which, int32_t value) {
    return [=](const Call& call) { call.set(which, value); };
  };
  refusal(operation(CUBLASLT_MATMUL_DESC_TRANSA, 77), kInvalid);
  refusal(operation(CUBLASLT_MATMUL_DESC_TRANSC, CUBLAS_OP_T), kUnsupported);
  const auto of_d = [](cublasLtMatrixLayoutAttribute_t which, auto value) {
    return [=](const Call& call) { call.set(call.d, which, value); };
  };
  refusal(of_d(CUBLASLT_MATRIX_LAYOUT_ORDER, int32_t{CUBLASLT_ORDER_ROW}), kUnsupported);
  refusal(of_d(CUBLASLT_MATRIX_LAYOUT_LD, int64_t{kSide - 1}), kInvalid);
  refusal(of_d(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, int32_t{2}), kInvalid);  // of one alone
  refusal(of_d(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, int32_t{0}), kInvalid);
}

}  // namespace
}  // namespace moesim
