#pragma once

#include <cstdint>

namespace moesim {

// A matrix in memory, row after row, `stride` elements apart; transposed, rows and columns change
// places.
struct MatrixView {
  const float* data = nullptr;
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t stride = 0;
  bool is_transposed = false;

  MatrixView(const float* matrix, int64_t num_rows, int64_t num_columns)
      : MatrixView(matrix, num_rows, num_columns, num_columns) {}
  MatrixView(const float* matrix, int64_t num_rows, int64_t num_columns, int64_t row_stride)
      : data(matrix), rows(num_rows), columns(num_columns), stride(row_stride) {}

  MatrixView transposed() const {
    MatrixView view = *this;
    view.rows = columns;
    view.columns = rows;
    view.is_transposed = !is_transposed;
    return view;
  }
};

// Where a product goes: the rows stand `stride` elements apart.
struct MatrixTarget {
  float* data = nullptr;
  int64_t stride = 0;
  bool add = false;  // to what stands there; otherwise that is not read
};

// left * right, on the calling thread alone.
void multiply(const MatrixView& left, const MatrixView& right, const MatrixTarget& target);

}  // namespace moesim
