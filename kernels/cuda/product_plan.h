#pragma once

#include <memory>
#include <type_traits>

#include "kernels/cuda/cuda_call.h"
#include "kernels/device/device_step.h"

namespace moesim {

struct CublasDeleter {
  void operator()(cublasLtHandle_t handle) const;
  void operator()(cublasLtMatmulDesc_t operation) const;
  void operator()(cublasLtMatrixLayout_t layout) const;
  void operator()(cublasLtMatmulPreference_t preference) const;
};
template <typename Handle>
using CublasHandle = std::unique_ptr<std::remove_pointer_t<Handle>, CublasDeleter>;

CublasHandle<cublasLtHandle_t> make_cublas();

// Memory that a stream's products may use while they run.
inline constexpr int64_t kProductWorkspace = int64_t{32} << 20;

// All of a product but its addresses, of which only the alignment counts.
struct ProductShape {
  explicit ProductShape(const Product& product);

  friend auto operator<=>(const ProductShape&, const ProductShape&) = default;

  struct Matrix {
    ElementType type = ElementType::kFloat32;
    int64_t rows = 0;
    int64_t columns = 0;
    int64_t stride = 0;
    bool is_transposed = false;
    int64_t step = 0;        // from one of the batch to the next
    uint32_t alignment = 0;  // bytes

    friend auto operator<=>(const Matrix&, const Matrix&) = default;
  };

  Matrix left;
  Matrix right;
  Matrix target;
  int batch = 1;
};

// How cuBLASLt computes products of one shape: descriptors and the algorithm that its heuristics
// prefer. FP32 factors are multiplied as FP32 (pedantic: no TF32, no other rounding of terms), BF16
// ones with FP32 sums.
class ProductPlan {
 public:
  // `sm_target` limits the SMs that the algorithm counts on; 0: all. Throws Failure where cuBLASLt
  // has no algorithm.
  ProductPlan(cublasLtHandle_t cublas, const ProductShape& shape, int sm_target);

  void run(const Product& product, void* workspace, cudaStream_t stream) const;

 private:
  void choose(const ProductShape& shape);

  cublasLtHandle_t cublas_;
  CublasHandle<cublasLtMatmulDesc_t> operation_;
  CublasHandle<cublasLtMatrixLayout_t> left_;
  CublasHandle<cublasLtMatrixLayout_t> right_;
  CublasHandle<cublasLtMatrixLayout_t> target_;
  cublasLtMatmulAlgo_t algorithm_{};
};

}  // namespace moesim
