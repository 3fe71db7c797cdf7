#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/core/host_device.h"

namespace moesim {

// The upper half of a float: its sign, its exponent and 7 bits of its fraction.
struct Bfloat16 {
  uint16_t bits = 0;
};

MOESIM_HD float to_float(Bfloat16 value) {
  const uint32_t bits = uint32_t{value.bits} << 16;
  float result;
  std::memcpy(&result, &bits, sizeof(result));
  return result;
}

// To the nearest, halves to even; what lies beyond the largest becomes infinite. NaN stays NaN,
// quiet and with its sign.
MOESIM_HD Bfloat16 to_bfloat16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  if (!(value == value)) {
    return {static_cast<uint16_t>((bits >> 16) | 0x40U)};
  }
  const uint32_t half_less_tie = 0x7FFFU + ((bits >> 16) & 1U);
  return {static_cast<uint16_t>((bits + half_less_tie) >> 16)};
}

}  // namespace moesim
