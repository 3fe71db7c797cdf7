#pragma once

#include <source_location>
#include <string>

#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include "sim/base/error.h"

namespace moesim {

// A call of CUDA or one of its libraries that failed: names the call, the error and the place in
// the source. Exit code 1.
class CudaError : public Failure {
 public:
  using Failure::Failure;
};

// Throw CudaError unless the status is a success: check_cuda(cudaMalloc(…), "cudaMalloc"). What
// runs on a device fails later: then a call that waits for it reports the error.
void check_cuda(cudaError_t status,
                const char* call,
                std::source_location where = std::source_location::current());
void check_cublas(cublasStatus_t status,
                  const char* call,
                  std::source_location where = std::source_location::current());

// "CALL failed: ERROR at FILE:LINE".
std::string failed_call(const char* call, const std::string& error, std::source_location where);

}  // namespace moesim
