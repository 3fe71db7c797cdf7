#pragma once

#include <cstdint>

#include <cublasLt.h>

namespace moesim::testing {

// What cuBLASLt's descriptors hold of what the fake understands, with cuBLASLt's defaults.
struct FakeLayout {
  cudaDataType_t type = CUDA_R_32F;
  uint64_t rows = 0;
  uint64_t columns = 0;
  int64_t stride = 0;  // from one column to the next
  int32_t order = CUBLASLT_ORDER_COL;
  int32_t batch = 1;
  int64_t step = 0;  // from one matrix of a batch to the next
};

struct FakeOperation {
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  cudaDataType_t scale = CUDA_R_32F;
  int32_t pointer_mode = CUBLASLT_POINTER_MODE_HOST;
  int32_t transposition_of_a = CUBLAS_OP_N;
  int32_t transposition_of_b = CUBLAS_OP_N;
  int32_t transposition_of_c = CUBLAS_OP_N;
  int32_t sm_target = 0;
};

struct FakePreference {
  uint64_t workspace_bytes = 0;
  uint32_t alignment_of_a = 256;
  uint32_t alignment_of_b = 256;
  uint32_t alignment_of_c = 256;
  uint32_t alignment_of_d = 256;
};

// D = op(A) op(B) + beta C, all but its addresses.
struct FakeProblem {
  FakeOperation operation;
  FakeLayout a;
  FakeLayout b;
  FakeLayout c;
  FakeLayout d;
};

struct FakeAddresses {
  const void* a = nullptr;
  const void* b = nullptr;
  const void* c = nullptr;
  void* d = nullptr;
};

// Success, CUBLAS_STATUS_INVALID_VALUE for what is impossible, CUBLAS_STATUS_NOT_SUPPORTED for what
// the documentation of cublasLtMatmul has no types for, and for orders other than columns.
cublasStatus_t status_of(const FakeProblem& problem);

// The algorithm for this problem alone. It counts on all that the preference allows: all of the
// workspace, each alignment. As cuBLASLt's it is a value that holds no handle.
cublasLtMatmulAlgo_t algorithm_for(const FakeProblem& problem, const FakePreference& preference);
bool is_for(const cublasLtMatmulAlgo_t& algorithm, const FakeProblem& problem);
// Each that is given out has one of its own.
uint64_t number_of(const cublasLtMatmulAlgo_t& algorithm);
void set_number(cublasLtMatmulAlgo_t& algorithm, uint64_t number);
uint64_t workspace_of(const cublasLtMatmulAlgo_t& algorithm);
// False where a device would fault: an address is not as aligned as the algorithm counts on.
bool is_aligned_for(const cublasLtMatmulAlgo_t& algorithm, const FakeAddresses& at);

// On the calling thread; sums are those of kernels/gemm.h.
void multiply(const FakeProblem& problem, const FakeAddresses& at, bool adds);

}  // namespace moesim::testing
