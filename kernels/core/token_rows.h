#pragma once

#include "kernels/core/elements.h"
#include "kernels/core/phase.h"
#include "kernels/core/rounding.h"

namespace moesim {

// Rows of M elements that travel between tokens and expert slots. A row of null is empty: its
// values count as zeros.

// An element's part of a token's result: the slot's weight, rounded, times its value.
MOESIM_HD Pack scaled(float factor, const Pack& from, Rounding rounding) {
  Pack result;
  for (int k = 0; k < kPackSize; ++k) {
    result.values[k] = factor * rounded(from.values[k], rounding);
  }
  return result;
}

MOESIM_HD void add(Pack& sum, const Pack& term) {
  for (int k = 0; k < kPackSize; ++k) {
    sum.values[k] += term.values[k];
  }
}

// One slot of order: the token's row, or zeros.
template <int T, typename From, typename To>
MOESIM_HD void copy_row(const From& from, int columns, const To& to) {
  block_for_packs<T>(columns, [&](int m, int count) {
    store_pack(to, m, count, is_empty(from) ? Pack{} : load_pack(from, m, count));
  });
}

// One row added to a sum.
template <int T, typename From, typename To>
MOESIM_HD void add_row(const From& from, int columns, const To& to) {
  block_for_packs<T>(columns, [&](int m, int count) {
    Pack sum = load_pack(to, m, count);
    add(sum, load_pack(from, m, count));
    store_pack(to, m, count, sum);
  });
}

// One slot's part of a token's result, or its reverse: the slot's part of the gradient.
template <int T, typename From, typename To>
MOESIM_HD void scale_row(
    float weight, const From& from, int columns, Rounding rounding, const To& to) {
  const float factor = rounded(weight, rounding);
  block_for_packs<T>(columns, [&](int m, int count) {
    const Pack part = is_empty(from) ? Pack{} : scaled(factor, load_pack(from, m, count), rounding);
    store_pack(to, m, count, part);
  });
}

template <int T, typename From, typename To>
MOESIM_HD void add_scaled_row(
    float weight, const From& from, int columns, Rounding rounding, const To& to) {
  const float factor = rounded(weight, rounding);
  block_for_packs<T>(columns, [&](int m, int count) {
    Pack sum = load_pack(to, m, count);
    add(sum, scaled(factor, load_pack(from, m, count), rounding));
    store_pack(to, m, count, sum);
  });
}

// The gradient of a slot's weight: its result times the gradient of the token's result.
template <int T, typename Left, typename Right>
MOESIM_HD float dot_rows(BlockScratch<T>& scratch,
                         const Left& left,
                         const Right& right,
                         int columns,
                         Rounding rounding) {
  return block_sum_of_packs(scratch, columns, [&](int m, int count) {
    Pack products = rounded(load_pack(left, m, count), rounding);
    const Pack factors = rounded(load_pack(right, m, count), rounding);
    for (int k = 0; k < kPackSize; ++k) {
      products.values[k] *= factors.values[k];
    }
    return products;
  });
}

}  // namespace moesim
