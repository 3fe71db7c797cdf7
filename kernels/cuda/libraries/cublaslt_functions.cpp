// The functions of cuBLASLt that the CUDA backend calls, under their own names: each opens the
// library at its first call and passes it on (docs/decisions/0020-libraries-opened-late.md). Tests
// link a fake in place of this file.
#include <cublasLt.h>
#include <fmt/format.h>

#include "kernels/cuda/libraries/shared_library.h"

namespace {

const moesim::SharedLibrary& library() {
  static const moesim::SharedLibrary opened(fmt::format("libcublasLt.so.{}", CUBLAS_VER_MAJOR),
                                            fmt::format("cuBLAS of CUDA {}", CUBLAS_VER_MAJOR));
  return opened;
}

// The library's function of the same type as one of ours, by its name.
template <typename Function>
Function* find(Function& /*like*/, const char* name) {
  return library().function<Function>(name);
}

}  // namespace

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  static const auto function = find(cublasLtCreate, __func__);
  return function(handle);
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  static const auto function = find(cublasLtDestroy, __func__);
  return function(handle);
}

const char* cublasLtGetStatusName(cublasStatus_t status) {
  static const auto function = find(cublasLtGetStatusName, __func__);
  return function(status);
}

size_t cublasLtGetVersion() {
  static const auto function = find(cublasLtGetVersion, __func__);
  return function();
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle,
                              cublasLtMatmulDesc_t description,
                              const void* alpha,
                              const void* a,
                              cublasLtMatrixLayout_t a_layout,
                              const void* b,
                              cublasLtMatrixLayout_t b_layout,
                              const void* beta,
                              const void* c,
                              cublasLtMatrixLayout_t c_layout,
                              void* d,
                              cublasLtMatrixLayout_t d_layout,
                              const cublasLtMatmulAlgo_t* algorithm,
                              void* workspace,
                              size_t workspace_bytes,
                              cudaStream_t stream) {
  static const auto function = find(cublasLtMatmul, __func__);
  return function(handle,
                  description,
                  alpha,
                  a,
                  a_layout,
                  b,
                  b_layout,
                  beta,
                  c,
                  c_layout,
                  d,
                  d_layout,
                  algorithm,
                  workspace,
                  workspace_bytes,
                  stream);
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle,
                                              cublasLtMatmulDesc_t description,
                                              cublasLtMatrixLayout_t a_layout,
                                              cublasLtMatrixLayout_t b_layout,
                                              cublasLtMatrixLayout_t c_layout,
                                              cublasLtMatrixLayout_t d_layout,
                                              cublasLtMatmulPreference_t preference,
                                              int num_wanted,
                                              cublasLtMatmulHeuristicResult_t results[],
                                              int* num_found) {
  static const auto function = find(cublasLtMatmulAlgoGetHeuristic, __func__);
  return function(handle,
                  description,
                  a_layout,
                  b_layout,
                  c_layout,
                  d_layout,
                  preference,
                  num_wanted,
                  results,
                  num_found);
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* description,
                                        cublasComputeType_t compute,
                                        cudaDataType_t scale) {
  static const auto function = find(cublasLtMatmulDescCreate, __func__);
  return function(description, compute, scale);
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t description) {
  static const auto function = find(cublasLtMatmulDescDestroy, __func__);
  return function(description);
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t description,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              const void* value,
                                              size_t bytes) {
  static const auto function = find(cublasLtMatmulDescSetAttribute, __func__);
  return function(description, attribute, value, bytes);
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  static const auto function = find(cublasLtMatmulPreferenceCreate, __func__);
  return function(preference);
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  static const auto function = find(cublasLtMatmulPreferenceDestroy, __func__);
  return function(preference);
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute,
                                                    const void* value,
                                                    size_t bytes) {
  static const auto function = find(cublasLtMatmulPreferenceSetAttribute, __func__);
  return function(preference, attribute, value, bytes);
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout,
                                          cudaDataType type,
                                          uint64_t rows,
                                          uint64_t columns,
                                          int64_t stride) {
  static const auto function = find(cublasLtMatrixLayoutCreate, __func__);
  return function(layout, type, rows, columns, stride);
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  static const auto function = find(cublasLtMatrixLayoutDestroy, __func__);
  return function(layout);
}

cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute,
                                                const void* value,
                                                size_t bytes) {
  static const auto function = find(cublasLtMatrixLayoutSetAttribute, __func__);
  return function(layout, attribute, value, bytes);
}
