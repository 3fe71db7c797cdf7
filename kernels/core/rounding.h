#pragma once

#include <cstdint>

#include "kernels/core/elements.h"
#include "kernels/core/math.h"

namespace moesim {

// How compute tasks treat the activations and activation gradients that they read.
enum class Rounding {
  kOff,
  // q(x) = clamp(round(8x) / 8, -4, 4), inside attention of every factor before its next product.
  // Weights are integers then, so that products and their sums are exact in FP32 in any order, and
  // a schedule's results equal an unpartitioned model's bit for bit. Collectives, local sums and
  // accumulations never round.
  kExact
};

// NaN stays NaN.
MOESIM_HD float rounded(float x, Rounding rounding) {
  constexpr float kLimit = 4.0F;
  constexpr float kSteps = 8.0F;
  if (rounding == Rounding::kOff) {
    return x;
  }
  const float clamped = x < -kLimit ? -kLimit : (x > kLimit ? kLimit : x);
  return round_to_integer(clamped * kSteps) / kSteps;
}

MOESIM_HD Pack rounded(const Pack& pack, Rounding rounding) {
  Pack result;
  for (int k = 0; k < kPackSize; ++k) {
    result.values[k] = rounded(pack.values[k], rounding);
  }
  return result;
}

MOESIM_HD void round_values(const float* from, int64_t count, Rounding rounding, float* to) {
  for (int64_t i = 0; i < count; ++i) {
    to[i] = rounded(from[i], rounding);
  }
}

}  // namespace moesim
