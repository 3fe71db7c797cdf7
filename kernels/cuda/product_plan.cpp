// cuBLASLt's matrices stand column after column. A matrix that stands row after row is its own
// transpose there, so that target = left * right is computed as target^T = right^T * left^T: the
// factors change places and nothing is moved.
#include "kernels/cuda/product_plan.h"

#include <algorithm>

#include <fmt/format.h>

#include "kernels/cuda/device_pointer.h"
#include "sim/base/check.h"

namespace moesim {
namespace {

cudaDataType_t cuda_type(ElementType type) {
  CHECK(type != ElementType::kInt32, "a product of integers");
  return type == ElementType::kBfloat16 ? CUDA_R_16BF : CUDA_R_32F;
}

// The largest power of two up to 256 bytes that both the address and, where there is a batch, the
// way to the next matrix are multiples of.
uint32_t alignment_of(const Elements& at, int64_t step) {
  constexpr uint64_t kMost = 256;
  const uint64_t bytes = at.address | static_cast<uint64_t>(step * size_of(at.type)) | kMost;
  return static_cast<uint32_t>(bytes & (~bytes + 1));
}

ProductShape::Matrix factor_shape(const DeviceMatrix& factor, int64_t step) {
  return {factor.at.type,
          factor.rows,
          factor.columns,
          factor.stride,
          factor.is_transposed,
          step,
          alignment_of(factor.at, step)};
}

template <typename Value>
void set(cublasLtMatmulDesc_t operation, cublasLtMatmulDescAttributes_t which, Value value) {
  check_cublas(cublasLtMatmulDescSetAttribute(operation, which, &value, sizeof(value)),
               "cublasLtMatmulDescSetAttribute");
}

template <typename Value>
void set(cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t which, Value value) {
  check_cublas(cublasLtMatrixLayoutSetAttribute(layout, which, &value, sizeof(value)),
               "cublasLtMatrixLayoutSetAttribute");
}

template <typename Value>
void set(cublasLtMatmulPreference_t preference,
         cublasLtMatmulPreferenceAttributes_t which,
         Value value) {
  check_cublas(cublasLtMatmulPreferenceSetAttribute(preference, which, &value, sizeof(value)),
               "cublasLtMatmulPreferenceSetAttribute");
}

// Of the matrix as it lies in memory, whatever is multiplied: its rows are columns there.
CublasHandle<cublasLtMatrixLayout_t> make_layout(const ProductShape::Matrix& matrix, int batch) {
  const int64_t rows = matrix.is_transposed ? matrix.columns : matrix.rows;
  const int64_t columns = matrix.is_transposed ? matrix.rows : matrix.columns;
  cublasLtMatrixLayout_t layout = nullptr;
  check_cublas(cublasLtMatrixLayoutCreate(&layout,
                                          cuda_type(matrix.type),
                                          static_cast<uint64_t>(columns),
                                          static_cast<uint64_t>(rows),
                                          std::max(matrix.stride, columns)),
               "cublasLtMatrixLayoutCreate");
  CublasHandle<cublasLtMatrixLayout_t> owned(layout);
  if (batch > 1) {
    set(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, int32_t{batch});
    set(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, matrix.step);
  }
  return owned;
}

CublasHandle<cublasLtMatmulDesc_t> make_operation(const ProductShape& shape, int sm_target) {
  cublasLtMatmulDesc_t operation = nullptr;
  const bool is_float = shape.left.type == ElementType::kFloat32;
  check_cublas(
      cublasLtMatmulDescCreate(
          &operation, is_float ? CUBLAS_COMPUTE_32F_PEDANTIC : CUBLAS_COMPUTE_32F, CUDA_R_32F),
      "cublasLtMatmulDescCreate");
  CublasHandle<cublasLtMatmulDesc_t> owned(operation);
  const auto transposition = [](const ProductShape::Matrix& factor) {
    return static_cast<int32_t>(factor.is_transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
  };
  set(operation, CUBLASLT_MATMUL_DESC_TRANSA, transposition(shape.right));
  set(operation, CUBLASLT_MATMUL_DESC_TRANSB, transposition(shape.left));
  if (sm_target > 0) {
    set(operation, CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, int32_t{sm_target});
  }
  return owned;
}

CublasHandle<cublasLtMatmulPreference_t> make_preference(const ProductShape& shape) {
  cublasLtMatmulPreference_t preference = nullptr;
  check_cublas(cublasLtMatmulPreferenceCreate(&preference), "cublasLtMatmulPreferenceCreate");
  CublasHandle<cublasLtMatmulPreference_t> owned(preference);
  set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, uint64_t{kProductWorkspace});
  set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, shape.right.alignment);
  set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, shape.left.alignment);
  set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, shape.target.alignment);
  set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, shape.target.alignment);
  return owned;
}

}  // namespace

void CublasDeleter::operator()(cublasLtHandle_t handle) const {
  static_cast<void>(cublasLtDestroy(handle));
}

void CublasDeleter::operator()(cublasLtMatmulDesc_t operation) const {
  static_cast<void>(cublasLtMatmulDescDestroy(operation));
}

void CublasDeleter::operator()(cublasLtMatrixLayout_t layout) const {
  static_cast<void>(cublasLtMatrixLayoutDestroy(layout));
}

void CublasDeleter::operator()(cublasLtMatmulPreference_t preference) const {
  static_cast<void>(cublasLtMatmulPreferenceDestroy(preference));
}

CublasHandle<cublasLtHandle_t> make_cublas() {
  cublasLtHandle_t handle = nullptr;
  check_cublas(cublasLtCreate(&handle), "cublasLtCreate");
  return CublasHandle<cublasLtHandle_t>(handle);
}

ProductShape::ProductShape(const Product& product)
    : left(factor_shape(product.left, product.left_step)),
      right(factor_shape(product.right, product.right_step)),
      target{product.target.type,
             product.rows(),
             product.columns(),
             product.target_stride,
             false,
             product.target_step,
             alignment_of(product.target, product.target_step)},
      batch(product.batch) {}

ProductPlan::ProductPlan(cublasLtHandle_t cublas, const ProductShape& shape, int sm_target)
    : cublas_(cublas),
      operation_(make_operation(shape, sm_target)),
      left_(make_layout(shape.left, shape.batch)),
      right_(make_layout(shape.right, shape.batch)),
      target_(make_layout(shape.target, shape.batch)) {
  choose(shape);
}

void ProductPlan::choose(const ProductShape& shape) {
  const CublasHandle<cublasLtMatmulPreference_t> preference = make_preference(shape);
  cublasLtMatmulHeuristicResult_t best{};
  int num_found = 0;
  const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(cublas_,
                                                               operation_.get(),
                                                               right_.get(),
                                                               left_.get(),
                                                               target_.get(),
                                                               target_.get(),
                                                               preference.get(),
                                                               1,
                                                               &best,
                                                               &num_found);
  // It has three ways of saying so.
  if (status == CUBLAS_STATUS_NOT_SUPPORTED ||
      (status == CUBLAS_STATUS_SUCCESS &&
       (num_found == 0 || best.state != CUBLAS_STATUS_SUCCESS))) {
    throw Failure(fmt::format("cuBLASLt has no algorithm for a product of {} x {} and {} x {}",
                              shape.left.rows,
                              shape.left.columns,
                              shape.right.rows,
                              shape.right.columns));
  }
  check_cublas(status, "cublasLtMatmulAlgoGetHeuristic");
  algorithm_ = best.algo;
}

void ProductPlan::run(const Product& product, void* workspace, cudaStream_t stream) const {
  const float alpha = 1;
  const float beta = product.add ? 1 : 0;
  check_cublas(cublasLtMatmul(cublas_,
                              operation_.get(),
                              &alpha,
                              device_pointer(product.right.at.address),
                              right_.get(),
                              device_pointer(product.left.at.address),
                              left_.get(),
                              &beta,
                              device_pointer(product.target.address),
                              target_.get(),
                              device_pointer(product.target.address),
                              target_.get(),
                              &algorithm_,
                              workspace,
                              kProductWorkspace,
                              stream),
               "cublasLtMatmul");
}

}  // namespace moesim
