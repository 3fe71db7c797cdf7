#include "kernels/reference/matrix.h"

#include <algorithm>

#include "kernels/gemm.h"
#include "sim/base/check.h"

namespace moesim {

Matrix rounded(Matrix matrix, Rounding rounding) {
  round_values(matrix.values.data(),
               static_cast<int64_t>(matrix.values.size()),
               rounding,
               matrix.values.data());
  return matrix;
}

Matrix transposed(const Matrix& matrix) {
  Matrix result(matrix.columns, matrix.rows);
  for (int64_t row = 0; row < matrix.rows; ++row) {
    for (int64_t column = 0; column < matrix.columns; ++column) {
      result.row(column)[row] = matrix.row(row)[column];
    }
  }
  return result;
}

Matrix operator*(const Matrix& left, const Matrix& right) {
  Matrix result(left.rows, right.columns);
  multiply({left.values.data(), left.rows, left.columns},
           {right.values.data(), right.rows, right.columns},
           {result.values.data(), result.columns});
  return result;
}

Matrix& operator+=(Matrix& sum, const Matrix& term) {
  CHECK(sum.rows == term.rows && sum.columns == term.columns);
  for (size_t i = 0; i < sum.values.size(); ++i) {
    sum.values[i] += term.values[i];
  }
  return sum;
}

Matrix block(const Matrix& from, int64_t row, int64_t column, int64_t rows, int64_t columns) {
  Matrix result(rows, columns);
  for (int64_t i = 0; i < rows; ++i) {
    std::copy_n(from.row(row + i) + column, columns, result.row(i));
  }
  return result;
}

void add_block(const Matrix& block, int64_t row, int64_t column, Matrix& to) {
  for (int64_t i = 0; i < block.rows; ++i) {
    for (int64_t j = 0; j < block.columns; ++j) {
      to.row(row + i)[column + j] += block.row(i)[j];
    }
  }
}

}  // namespace moesim
