#include "tests/support/fake_cuda/cublaslt_contract.h"

#include <cstdint>

#include <cublasLt.h>
#include <gtest/gtest.h>

namespace moesim::testing {
namespace {

constexpr cublasStatus_t kSuccess = CUBLAS_STATUS_SUCCESS;
constexpr cublasStatus_t kInvalid = CUBLAS_STATUS_INVALID_VALUE;
constexpr cublasStatus_t kNotInitialized = CUBLAS_STATUS_NOT_INITIALIZED;

// Numbers that no enumerator has, of those that the enumerations may hold.
constexpr auto kNoStatus = static_cast<cublasStatus_t>(31);
constexpr auto kNoComputeType = static_cast<cublasComputeType_t>(127);
constexpr auto none(cublasLtMatmulDescAttributes_t) {
  return static_cast<cublasLtMatmulDescAttributes_t>(63);
}
constexpr auto none(cublasLtMatrixLayoutAttribute_t) {
  return static_cast<cublasLtMatrixLayoutAttribute_t>(15);
}
constexpr auto none(cublasLtMatmulPreferenceAttributes_t) {
  return static_cast<cublasLtMatmulPreferenceAttributes_t>(15);
}

// Values are taken as they are, sizes are not, nor unknown attributes.
template <typename Set, typename Descriptor, typename Attribute>
void expect_attribute(const Set& set, Descriptor descriptor, Attribute attribute, size_t bytes) {
  int64_t value = -3;
  EXPECT_EQ(set(descriptor, attribute, &value, bytes), kSuccess) << attribute;
  EXPECT_EQ(set(descriptor, attribute, &value, 12 - bytes), kInvalid) << attribute;
  EXPECT_EQ(set(descriptor, attribute, nullptr, bytes), kInvalid) << attribute;
  EXPECT_EQ(set(nullptr, attribute, &value, bytes), kInvalid) << attribute;
  EXPECT_EQ(set(descriptor, none(attribute), &value, bytes), kInvalid);
}

void expect_operations() {
  cublasLtMatmulDesc_t made = nullptr;
  EXPECT_EQ(cublasLtMatmulDescCreate(nullptr, CUBLAS_COMPUTE_32F, CUDA_R_32F), kInvalid);
  EXPECT_EQ(cublasLtMatmulDescCreate(&made, kNoComputeType, CUDA_R_32F), kSuccess);
  EXPECT_EQ(cublasLtMatmulDescDestroy(made), kSuccess);
  ASSERT_EQ(cublasLtMatmulDescCreate(&made, CUBLAS_COMPUTE_32F, CUDA_R_32F), kSuccess);
  for (const cublasLtMatmulDescAttributes_t attribute : {CUBLASLT_MATMUL_DESC_POINTER_MODE,
                                                         CUBLASLT_MATMUL_DESC_TRANSA,
                                                         CUBLASLT_MATMUL_DESC_TRANSB,
                                                         CUBLASLT_MATMUL_DESC_TRANSC,
                                                         CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET}) {
    expect_attribute(cublasLtMatmulDescSetAttribute, made, attribute, sizeof(int32_t));
  }
  EXPECT_EQ(cublasLtMatmulDescDestroy(made), kSuccess);
  EXPECT_EQ(cublasLtMatmulDescDestroy(nullptr), kSuccess);
}

void expect_layouts() {
  cublasLtMatrixLayout_t made = nullptr;
  EXPECT_EQ(cublasLtMatrixLayoutCreate(nullptr, CUDA_R_32F, 4, 4, 4), kInvalid);
  // Columns that overlap, or none: said when it is used.
  EXPECT_EQ(cublasLtMatrixLayoutCreate(&made, CUDA_R_32F, 4, 4, 2), kSuccess);
  EXPECT_EQ(cublasLtMatrixLayoutDestroy(made), kSuccess);
  ASSERT_EQ(cublasLtMatrixLayoutCreate(&made, CUDA_R_32F, 4, 0, 4), kSuccess);
  const auto set = cublasLtMatrixLayoutSetAttribute;
  expect_attribute(set, made, CUBLASLT_MATRIX_LAYOUT_ORDER, sizeof(int32_t));
  expect_attribute(set, made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, sizeof(int32_t));
  expect_attribute(set, made, CUBLASLT_MATRIX_LAYOUT_LD, sizeof(int64_t));
  expect_attribute(set, made, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, sizeof(int64_t));
  EXPECT_EQ(cublasLtMatrixLayoutDestroy(made), kSuccess);
  EXPECT_EQ(cublasLtMatrixLayoutDestroy(nullptr), kSuccess);
}

void expect_preferences() {
  cublasLtMatmulPreference_t made = nullptr;
  EXPECT_EQ(cublasLtMatmulPreferenceCreate(nullptr), kInvalid);
  ASSERT_EQ(cublasLtMatmulPreferenceCreate(&made), kSuccess);
  const auto set = cublasLtMatmulPreferenceSetAttribute;
  expect_attribute(set, made, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, sizeof(uint64_t));
  for (const cublasLtMatmulPreferenceAttributes_t attribute :
       {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
    expect_attribute(set, made, attribute, sizeof(uint32_t));
  }
  EXPECT_EQ(cublasLtMatmulPreferenceDestroy(made), kSuccess);
  EXPECT_EQ(cublasLtMatmulPreferenceDestroy(nullptr), kSuccess);
}

// Descriptors are there: the library looks into them first.
void expect_null_handles() {
  EXPECT_EQ(cublasLtCreate(nullptr), kInvalid);
  cublasLtMatmulDesc_t operation = nullptr;
  cublasLtMatrixLayout_t of = nullptr;
  cublasLtMatmulPreference_t preference = nullptr;
  ASSERT_EQ(cublasLtMatmulDescCreate(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F), kSuccess);
  ASSERT_EQ(cublasLtMatrixLayoutCreate(&of, CUDA_R_32F, 1, 1, 1), kSuccess);
  ASSERT_EQ(cublasLtMatmulPreferenceCreate(&preference), kSuccess);
  cublasLtMatmulHeuristicResult_t result{};
  int count = 0;
  const auto choose = [&](int wanted) {
    return cublasLtMatmulAlgoGetHeuristic(
        nullptr, operation, of, of, of, of, preference, wanted, &result, &count);
  };
  EXPECT_EQ(choose(1), kNotInitialized);
  EXPECT_EQ(choose(0), kNotInitialized);
  float one = 1;
  EXPECT_EQ(cublasLtMatmul(nullptr,
                           operation,
                           &one,
                           &one,
                           of,
                           &one,
                           of,
                           &one,
                           &one,
                           of,
                           &one,
                           of,
                           &result.algo,
                           nullptr,
                           0,
                           nullptr),
            kNotInitialized);
  EXPECT_EQ(cublasLtMatmulPreferenceDestroy(preference), kSuccess);
  EXPECT_EQ(cublasLtMatrixLayoutDestroy(of), kSuccess);
  EXPECT_EQ(cublasLtMatmulDescDestroy(operation), kSuccess);
}

}  // namespace

void expect_contract_of_cublaslt() {
  EXPECT_STREQ(cublasLtGetStatusName(kNotInitialized), "CUBLAS_STATUS_NOT_INITIALIZED");
  EXPECT_STREQ(cublasLtGetStatusName(kInvalid), "CUBLAS_STATUS_INVALID_VALUE");
  EXPECT_STREQ(cublasLtGetStatusName(CUBLAS_STATUS_NOT_SUPPORTED), "CUBLAS_STATUS_NOT_SUPPORTED");
  EXPECT_STREQ(cublasLtGetStatusName(kNoStatus), "unrecognized status");
  expect_operations();
  expect_layouts();
  expect_preferences();
  expect_null_handles();
}

}  // namespace moesim::testing
