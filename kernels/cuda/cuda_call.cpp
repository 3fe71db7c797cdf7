#include "kernels/cuda/cuda_call.h"

#include <fmt/format.h>

namespace moesim {
namespace {

[[noreturn]] void fail(const char* call, const std::string& error, std::source_location where) {
  throw CudaError(
      fmt::format("{} failed: {} at {}:{}", call, error, where.file_name(), where.line()));
}

}  // namespace

void check_cuda(cudaError_t status, const char* call, std::source_location where) {
  if (status != cudaSuccess) {
    fail(call, fmt::format("{} ({})", cudaGetErrorString(status), cudaGetErrorName(status)), where);
  }
}

void check_cublas(cublasStatus_t status, const char* call, std::source_location where) {
  if (status != CUBLAS_STATUS_SUCCESS) {
    fail(call, cublasLtGetStatusName(status), where);
  }
}

}  // namespace moesim
