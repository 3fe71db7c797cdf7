#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "kernels/core/host_device.h"

namespace moesim {

// To the nearest whole number, halves to even; for |x| < 2^22. Adding 1.5 * 2^23 leaves no bit
// behind the point.
MOESIM_HD float round_to_integer(float x) {
  constexpr float kShift = 12582912.0F;
  return (x + kShift) - kShift;
}

// e^x within 2 units in the last place, by reduction to [-ln 2 / 2, ln 2 / 2] and a polynomial
// (coefficients of Cephes' expf, S. Moshier). Below -87.3 it is 0, above 88 infinite, NaN stays.
// Libraries differ from each other in the last bit, and so would schedules on different machines.
MOESIM_HD float exponential(float x) {
  constexpr float kLog2E = 1.44269504F;
  constexpr float kLn2High = 0.693359375F;
  constexpr float kLn2Low = -2.12194440e-4F;
  if (x < -87.3F) {
    return 0.0F;
  }
  if (x > 88.0F) {
    return HUGE_VALF;
  }
  if (!(x == x)) {
    return x;
  }
  const float n = round_to_integer(x * kLog2E);
  const float r = (x - n * kLn2High) - n * kLn2Low;
  float p = 1.9875691500e-4F;
  p = p * r + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  p = p * (r * r) + r + 1.0F;
  const uint32_t bits = static_cast<uint32_t>(static_cast<int32_t>(n) + 127) << 23;
  float power;  // 2^n
  std::memcpy(&power, &bits, sizeof(power));
  return p * power;
}

MOESIM_HD float sigmoid(float x) {
  return 1.0F / (1.0F + exponential(-x));
}

}  // namespace moesim
