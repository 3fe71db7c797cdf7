#pragma once

#include <cmath>

#include "kernels/core/phase.h"
#include "kernels/core/rounding.h"

namespace moesim {

// X-MoE's scores (Chi et al., "On the Representation Collapse of Sparse Mixture of Experts", 2022,
// section 3.2): the cosine of the token and the expert's embedding over a temperature, without the
// projection to fewer dimensions in front. The temperature is a constant here.
inline constexpr float kCosineTemperature = 0.25F;

// A row of M values x, rounded; the (M, E) matrix w of expert embeddings and the sums of squares
// of its columns.
struct CosineRow {
  const float* x = nullptr;
  int columns = 0;
  const float* w = nullptr;
  int experts = 0;
  const float* squares = nullptr;
};

// 1 / norm, or 0 for a vector of zeros, whose cosine is 0 with every other.
MOESIM_HD float inverse_norm(float sum_of_squares) {
  return sum_of_squares == 0 ? 0.0F : 1.0F / std::sqrt(sum_of_squares);
}

MOESIM_HD float column_sum_of_squares(const float* w, int rows, int columns, int column) {
  float sum = 0;
  for (int row = 0; row < rows; ++row) {
    const float value = w[row * columns + column];
    sum += value * value;
  }
  return sum;
}

template <int T>
MOESIM_HD float row_inverse_norm(BlockScratch<T>& scratch, const CosineRow& row) {
  return inverse_norm(
      block_sum_of(scratch, row.columns, [&](int m) { return row.x[m] * row.x[m]; }));
}

// cosine(x, w_e), by expert.
template <int T>
MOESIM_HD void cosine_row(BlockScratch<T>& scratch, const CosineRow& row, float* cosines) {
  const float inverse = row_inverse_norm(scratch, row);
  block_for<T>(row.experts, [&](int e) {
    float dot = 0;
    for (int m = 0; m < row.columns; ++m) {
      dot += row.x[m] * row.w[m * row.experts + e];
    }
    cosines[e] = dot * inverse * inverse_norm(row.squares[e]);
  });
}

struct CosineGradient {
  const float* cosines = nullptr;
  const float* d_logits = nullptr;
  float* dx = nullptr;  // the row's
  float* dw = nullptr;  // (M, E)
};

// Adds the row's part of dx and dw: with c_e = cosine(x, w_e) and g_e = d_logits_e / temperature,
//   dx = sum_e g_e (w_e / (|x| |w_e|) - c_e x / |x|^2)
//   dw_e = g_e (x / (|x| |w_e|) - c_e w_e / |w_e|^2).
// The parts are rounded before they are added, so that sums over rows are exact.
template <int T>
MOESIM_HD void cosine_backward_row(BlockScratch<T>& scratch,
                                   const CosineRow& row,
                                   const CosineGradient& gradient,
                                   Rounding rounding) {
  const float inverse_x = row_inverse_norm(scratch, row);
  block_for<T>(row.columns, [&](int m) {
    float sum = 0;
    for (int e = 0; e < row.experts; ++e) {
      const float g = gradient.d_logits[e] / kCosineTemperature;
      const float c = gradient.cosines[e];
      const float w = row.w[m * row.experts + e];
      const float inverse_w = inverse_norm(row.squares[e]);
      sum += g * (w * inverse_x * inverse_w - c * row.x[m] * inverse_x * inverse_x);
      const float part = g * (row.x[m] * inverse_x * inverse_w - c * w * inverse_w * inverse_w);
      gradient.dw[m * row.experts + e] += rounded(part, rounding);
    }
    gradient.dx[m] += rounded(sum, rounding);
  });
}

}  // namespace moesim
