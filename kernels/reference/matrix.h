#pragma once

#include <cstdint>
#include <vector>

#include "kernels/core/rounding.h"

namespace moesim {

// A matrix, row after row.
struct Matrix {
  int64_t rows = 0;
  int64_t columns = 0;
  std::vector<float> values;

  Matrix() = default;
  // Zeros.
  Matrix(int64_t num_rows, int64_t num_columns)
      : rows(num_rows),
        columns(num_columns),
        values(static_cast<size_t>(num_rows * num_columns), 0.0F) {}

  float* row(int64_t i) { return values.data() + i * columns; }
  const float* row(int64_t i) const { return values.data() + i * columns; }
};

Matrix rounded(Matrix matrix, Rounding rounding);
Matrix transposed(const Matrix& matrix);
Matrix operator*(const Matrix& left, const Matrix& right);
Matrix& operator+=(Matrix& sum, const Matrix& term);
// The block of `rows` x `columns` elements from a first row and column on, and its reverse.
Matrix block(const Matrix& from, int64_t row, int64_t column, int64_t rows, int64_t columns);
void add_block(const Matrix& block, int64_t row, int64_t column, Matrix& to);

}  // namespace moesim
