#include "kernels/cuda/cuda_call.h"

#include <string_view>

#include <fmt/format.h>

namespace moesim {
namespace {

// As the compiler saw it from its build folder: from the repository's root on.
std::string_view source_path(std::string_view file) {
  constexpr std::string_view kUp = "../";
  while (file.starts_with(kUp)) {
    file.remove_prefix(kUp.size());
  }
  return file;
}

}  // namespace

std::string failed_call(const char* call, const std::string& error, std::source_location where) {
  return fmt::format(
      "{} failed: {} at {}:{}", call, error, source_path(where.file_name()), where.line());
}

void check_cuda(cudaError_t status, const char* call, std::source_location where) {
  if (status != cudaSuccess) {
    throw CudaError(failed_call(
        call, fmt::format("{} ({})", cudaGetErrorString(status), cudaGetErrorName(status)), where));
  }
}

void check_cublas(cublasStatus_t status, const char* call, std::source_location where) {
  if (status != CUBLAS_STATUS_SUCCESS) {
    throw CudaError(failed_call(call, cublasLtGetStatusName(status), where));
  }
}

}  // namespace moesim
