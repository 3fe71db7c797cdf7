#pragma once

#include "kernels/core/phase.h"
#include "kernels/core/rounding.h"

namespace moesim {

// Rows of M elements that travel between tokens and expert slots. A row of null is empty: its
// values count as zeros.

// One slot of order: the token's row, or zeros.
template <int T>
MOESIM_HD void copy_row(const float* from, int columns, float* to) {
  block_for<T>(columns, [&](int m) { to[m] = from == nullptr ? 0.0F : from[m]; });
}

// One row added to a sum.
template <int T>
MOESIM_HD void add_row(const float* from, int columns, float* to) {
  block_for<T>(columns, [&](int m) { to[m] += from[m]; });
}

// One slot's part of a token's result, or its reverse: the slot's part of the gradient.
template <int T>
MOESIM_HD void scale_row(
    float weight, const float* from, int columns, Rounding rounding, float* to) {
  const float factor = rounded(weight, rounding);
  block_for<T>(columns, [&](int m) {
    to[m] = from == nullptr ? 0.0F : factor * rounded(from[m], rounding);
  });
}

template <int T>
MOESIM_HD void add_scaled_row(
    float weight, const float* from, int columns, Rounding rounding, float* to) {
  const float factor = rounded(weight, rounding);
  block_for<T>(columns, [&](int m) { to[m] += factor * rounded(from[m], rounding); });
}

// The gradient of a slot's weight: its result times the gradient of the token's result.
template <int T>
MOESIM_HD float dot_rows(BlockScratch<T>& scratch,
                         const float* left,
                         const float* right,
                         int columns,
                         Rounding rounding) {
  return block_sum_of(scratch, columns, [&](int m) {
    return rounded(left[m], rounding) * rounded(right[m], rounding);
  });
}

}  // namespace moesim
