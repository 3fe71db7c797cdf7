#include "kernels/gemm.h"

#include <algorithm>

#include <cblas.h>

#include "sim/base/check.h"

namespace moesim {
namespace {

// Ranks are threads of their own; a product that took more of them would make their times
// incomparable.
void use_one_thread() {
  static const bool done = [] {
    openblas_set_num_threads(1);
    return true;
  }();
  static_cast<void>(done);
}

CBLAS_TRANSPOSE transpose_of(const MatrixView& view) {
  return view.is_transposed ? CblasTrans : CblasNoTrans;
}

blasint to_blas(int64_t count) {
  return static_cast<blasint>(count);
}

}  // namespace

void multiply(const MatrixView& left, const MatrixView& right, const MatrixTarget& target) {
  CHECK(left.columns == right.rows, "{} columns times {} rows", left.columns, right.rows);
  use_one_thread();
  if (left.rows == 0 || right.columns == 0) {
    return;
  }
  const int64_t least_stride = 1;  // BLAS wants one even of matrices without elements
  cblas_sgemm(CblasRowMajor,
              transpose_of(left),
              transpose_of(right),
              to_blas(left.rows),
              to_blas(right.columns),
              to_blas(left.columns),
              1.0F,
              left.data,
              to_blas(std::max(least_stride, left.stride)),
              right.data,
              to_blas(std::max(least_stride, right.stride)),
              target.add ? 1.0F : 0.0F,
              target.data,
              to_blas(std::max(least_stride, target.stride)));
}

}  // namespace moesim
