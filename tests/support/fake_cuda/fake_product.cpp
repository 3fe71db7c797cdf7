#include "tests/support/fake_cuda/fake_product.h"

#include <algorithm>
#include <array>
#include <vector>

#include "kernels/core/elements.h"
#include "kernels/gemm.h"
#include "sim/base/hash.h"

namespace moesim::testing {
namespace {

bool is_transposition(int32_t number) {
  return number == CUBLAS_OP_N || number == CUBLAS_OP_T || number == CUBLAS_OP_C;
}

bool is_possible(const FakeLayout& layout, int32_t batch) {
  return layout.rows > 0 && layout.columns > 0 && layout.stride >= 0 &&
         static_cast<uint64_t>(layout.stride) >= layout.rows && layout.batch == batch && batch > 0;
}

uint64_t rows_of(const FakeLayout& layout, int32_t transposition) {
  return transposition == CUBLAS_OP_N ? layout.rows : layout.columns;
}

uint64_t columns_of(const FakeLayout& layout, int32_t transposition) {
  return transposition == CUBLAS_OP_N ? layout.columns : layout.rows;
}

bool is_possible(const FakeProblem& problem) {
  const auto& [operation, a, b, c, d] = problem;
  const int32_t of_a = operation.transposition_of_a;
  const int32_t of_b = operation.transposition_of_b;
  const auto fits = [&](const FakeLayout& layout) { return is_possible(layout, d.batch); };
  return is_transposition(of_a) && is_transposition(of_b) &&
         is_transposition(operation.transposition_of_c) && fits(a) && fits(b) && fits(c) &&
         fits(d) && rows_of(a, of_a) == d.rows && columns_of(a, of_a) == rows_of(b, of_b) &&
         columns_of(b, of_b) == d.columns && c.rows == d.rows && c.columns == d.columns;
}

// The lines of the documentation's table for these two compute types that FP32 and BF16 are in.
bool has_types(const FakeProblem& problem) {
  const auto& [operation, a, b, c, d] = problem;
  const bool computes =
      operation.compute == CUBLAS_COMPUTE_32F || operation.compute == CUBLAS_COMPUTE_32F_PEDANTIC;
  const bool is_float = a.type == CUDA_R_32F && d.type == CUDA_R_32F;
  const bool is_bfloat16 = a.type == CUDA_R_16BF && (d.type == CUDA_R_16BF || d.type == CUDA_R_32F);
  return computes && operation.scale == CUDA_R_32F && a.type == b.type && c.type == d.type &&
         (is_float || is_bfloat16);
}

uint64_t hash_of(const FakeProblem& problem) {
  Hash hash;
  const FakeOperation& operation = problem.operation;
  for (const int32_t number : {static_cast<int32_t>(operation.compute),
                               operation.transposition_of_a,
                               operation.transposition_of_b,
                               operation.sm_target}) {
    hash.add(static_cast<uint64_t>(number));
  }
  for (const FakeLayout& layout : {problem.a, problem.b, problem.c, problem.d}) {
    hash.add(static_cast<uint64_t>(layout.type)).add(layout.rows).add(layout.columns);
    hash.add(static_cast<uint64_t>(layout.stride)).add(static_cast<uint64_t>(layout.batch));
    hash.add(static_cast<uint64_t>(layout.step));
  }
  return hash.value();
}

// What an algorithm's numbers are.
enum Place : int {
  kProblem,
  kWorkspace,
  kAlignmentOfA,
  kAlignmentOfB,
  kAlignmentOfC,
  kAlignmentOfD,
  kNumber
};

Elements elements(const void* address, const FakeLayout& layout, int batch) {
  const Elements first{reinterpret_cast<DeviceAddress>(address),
                       layout.type == CUDA_R_16BF ? ElementType::kBfloat16 : ElementType::kFloat32};
  return first.from(batch * layout.step);
}

template <typename Body>
void for_each_element(const FakeLayout& layout, const Body& body) {
  size_t i = 0;
  for (uint64_t column = 0; column < layout.columns; ++column) {
    for (uint64_t row = 0; row < layout.rows; ++row) {
      body(static_cast<int64_t>(column) * layout.stride + static_cast<int64_t>(row), i++);
    }
  }
}

// The columns of the matrix are the rows of its transpose, which is read here.
std::vector<float> read(const Elements& at, const FakeLayout& layout) {
  std::vector<float> values(static_cast<size_t>(layout.rows * layout.columns));
  for_each_element(layout, [&](int64_t place, size_t i) { values[i] = at.load(place); });
  return values;
}

MatrixView view(const std::vector<float>& values, const FakeLayout& layout, int32_t transposition) {
  const MatrixView view(
      values.data(), static_cast<int64_t>(layout.columns), static_cast<int64_t>(layout.rows));
  return transposition == CUBLAS_OP_N ? view : view.transposed();
}

}  // namespace

cublasStatus_t status_of(const FakeProblem& problem) {
  if (!is_possible(problem)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const auto& [operation, a, b, c, d] = problem;
  const bool has_orders = std::ranges::all_of(std::array{a.order, b.order, c.order, d.order},
                                              [](int32_t o) { return o == CUBLASLT_ORDER_COL; });
  return has_orders && has_types(problem) && operation.transposition_of_c == CUBLAS_OP_N &&
                 operation.pointer_mode == CUBLASLT_POINTER_MODE_HOST
             ? CUBLAS_STATUS_SUCCESS
             : CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasLtMatmulAlgo_t algorithm_for(const FakeProblem& problem, const FakePreference& preference) {
  cublasLtMatmulAlgo_t algorithm{};
  algorithm.data[kProblem] = hash_of(problem);
  algorithm.data[kWorkspace] = preference.workspace_bytes;
  algorithm.data[kAlignmentOfA] = preference.alignment_of_a;
  algorithm.data[kAlignmentOfB] = preference.alignment_of_b;
  algorithm.data[kAlignmentOfC] = preference.alignment_of_c;
  algorithm.data[kAlignmentOfD] = preference.alignment_of_d;
  return algorithm;
}

bool is_for(const cublasLtMatmulAlgo_t& algorithm, const FakeProblem& problem) {
  return algorithm.data[kProblem] == hash_of(problem);
}

uint64_t number_of(const cublasLtMatmulAlgo_t& algorithm) {
  return algorithm.data[kNumber];
}

void set_number(cublasLtMatmulAlgo_t& algorithm, uint64_t number) {
  algorithm.data[kNumber] = number;
}

uint64_t workspace_of(const cublasLtMatmulAlgo_t& algorithm) {
  return algorithm.data[kWorkspace];
}

bool is_aligned_for(const cublasLtMatmulAlgo_t& algorithm, const FakeAddresses& at) {
  const auto is_aligned = [&](const void* address, Place alignment) {
    return reinterpret_cast<DeviceAddress>(address) % algorithm.data[alignment] == 0;
  };
  return is_aligned(at.a, kAlignmentOfA) && is_aligned(at.b, kAlignmentOfB) &&
         is_aligned(at.c, kAlignmentOfC) && is_aligned(at.d, kAlignmentOfD);
}

// D = A B for columns is D^T = B^T A^T for rows.
void multiply(const FakeProblem& problem, const FakeAddresses& at, bool adds) {
  const auto& [operation, a, b, c, d] = problem;
  for (int batch = 0; batch < d.batch; ++batch) {
    const std::vector<float> left = read(elements(at.b, b, batch), b);
    const std::vector<float> right = read(elements(at.a, a, batch), a);
    std::vector<float> sums = adds ? read(elements(at.c, c, batch), c)
                                   : std::vector<float>(static_cast<size_t>(d.rows * d.columns));
    moesim::multiply(view(left, b, operation.transposition_of_b),
                     view(right, a, operation.transposition_of_a),
                     {sums.data(), static_cast<int64_t>(d.rows), adds});
    const Elements target = elements(at.d, d, batch);
    for_each_element(d, [&](int64_t place, size_t i) { target.store(place, sums[i]); });
  }
}

}  // namespace moesim::testing
