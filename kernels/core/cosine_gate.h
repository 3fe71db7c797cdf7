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

template <int T>
MOESIM_HD float column_sum_of_squares(
    BlockScratch<T>& scratch, const float* w, int rows, int columns, int column) {
  return block_sum_of(scratch, rows, [&](int row) {
    const float value = w[row * columns + column];
    return value * value;
  });
}

template <int T>
MOESIM_HD float row_inverse_norm(BlockScratch<T>& scratch, const CosineRow& row) {
  return inverse_norm(
      block_sum_of(scratch, row.columns, [&](int m) { return row.x[m] * row.x[m]; }));
}

// cosine(x, w_e), by expert. Returns 1 / |x|.
template <int T>
MOESIM_HD float cosine_row(BlockScratch<T>& scratch, const CosineRow& row, float* cosines) {
  const float inverse = row_inverse_norm(scratch, row);
  block_for<T>(row.experts, [&](int e) {
    float dot = 0;
    for (int m = 0; m < row.columns; ++m) {
      dot += row.x[m] * row.w[m * row.experts + e];
    }
    cosines[e] = dot * inverse * inverse_norm(row.squares[e]);
  });
  return inverse;
}

// What the gradients of an element of the row and of an expert's embedding have in common.
struct CosineTerm {
  float g = 0;  // of the cosine
  float cosine = 0;
  float x = 0;
  float w = 0;
  float inverse_x = 0;  // 1 / |x|
  float inverse_w = 0;
};

// With c_e = cosine(x, w_e) and g_e = d_logits_e / temperature,
//   dx = sum_e g_e (w_e / (|x| |w_e|) - c_e x / |x|^2)
//   dw_e = g_e (x / (|x| |w_e|) - c_e w_e / |w_e|^2).
MOESIM_HD float cosine_dx(const CosineTerm& t) {
  return t.g * (t.w * t.inverse_x * t.inverse_w - t.cosine * t.x * t.inverse_x * t.inverse_x);
}

MOESIM_HD float cosine_dw(const CosineTerm& t) {
  return t.g * (t.x * t.inverse_x * t.inverse_w - t.cosine * t.w * t.inverse_w * t.inverse_w);
}

// A row's cosines, the gradients of its logits, and 1 / |x|.
struct CosineGradient {
  const float* cosines = nullptr;
  const float* d_logits = nullptr;
  float inverse_x = 0;
};

MOESIM_HD CosineTerm cosine_term(const CosineRow& row,
                                 const CosineGradient& gradient,
                                 int column,
                                 int expert) {
  return {gradient.d_logits[expert] / kCosineTemperature,
          gradient.cosines[expert],
          row.x[column],
          row.w[column * row.experts + expert],
          gradient.inverse_x,
          inverse_norm(row.squares[expert])};
}

// The row's part of dx: sums over experts ascend, and are rounded before they are added, so that
// sums over rows and passes are exact.
MOESIM_HD float cosine_input_gradient(const CosineRow& row,
                                      const CosineGradient& gradient,
                                      int column,
                                      Rounding rounding) {
  float sum = 0;
  for (int e = 0; e < row.experts; ++e) {
    sum += cosine_dx(cosine_term(row, gradient, column, e));
  }
  return rounded(sum, rounding);
}

// The row's part of an element of dw, likewise rounded.
MOESIM_HD float cosine_weight_gradient(const CosineRow& row,
                                       const CosineGradient& gradient,
                                       int column,
                                       int expert,
                                       Rounding rounding) {
  return rounded(cosine_dw(cosine_term(row, gradient, column, expert)), rounding);
}

// Adds the row's parts to its dx and to the (M, E) matrix dw.
template <int T>
MOESIM_HD void cosine_backward_row(
    const CosineRow& row, const CosineGradient& gradient, Rounding rounding, float* dx, float* dw) {
  block_for<T>(row.columns, [&](int m) {
    for (int e = 0; e < row.experts; ++e) {
      dw[m * row.experts + e] += cosine_weight_gradient(row, gradient, m, e, rounding);
    }
    dx[m] += cosine_input_gradient(row, gradient, m, rounding);
  });
}

}  // namespace moesim
