#pragma once

#include <cstdint>

#include "kernels/core/bfloat16.h"

namespace moesim {

// How a buffer holds its elements.
enum class ElementType { kFloat32, kBfloat16, kInt32 };

MOESIM_HD int64_t size_of(ElementType type) {
  return type == ElementType::kBfloat16 ? 2 : 4;
}

// Where something lies in the memory of a device: a number, because the host only counts with it.
// Where Programs are lowered and interpreted on the host it is the address of host memory.
using DeviceAddress = uint64_t;

// Four neighbours, loaded and stored at once where they are aligned.
struct Four {
  float values[4] = {0, 0, 0, 0};
};

// Floating elements one behind the other. The type is a value: all threads of a block take the same
// branch, and what a kernel waits for is memory.
struct Elements {
  DeviceAddress address = 0;
  ElementType type = ElementType::kFloat32;

  MOESIM_HD Elements from(int64_t i) const;
  MOESIM_HD float load(int64_t i) const;
  MOESIM_HD void store(int64_t i, float value) const;
  // `count` of [i, i + 4) take part, the first ones; others are 0 and not stored.
  MOESIM_HD Four load_four(int64_t i, int count) const;
  MOESIM_HD void store_four(int64_t i, int count, const Four& four) const;
};

namespace internal {

struct alignas(16) FourFloats {
  float values[4];
};

struct alignas(8) FourBfloat16s {
  Bfloat16 values[4];
};

template <typename Element>
MOESIM_HD Element* element(DeviceAddress address, int64_t i) {
  return reinterpret_cast<Element*>(address) + i;
}

template <typename Whole, typename Element>
MOESIM_HD bool is_whole(const Element* at, int count) {
  return count == 4 && reinterpret_cast<DeviceAddress>(at) % sizeof(Whole) == 0;
}

}  // namespace internal

MOESIM_HD Elements Elements::from(int64_t i) const {
  return {address + static_cast<DeviceAddress>(i * size_of(type)), type};
}

MOESIM_HD float Elements::load(int64_t i) const {
  return type == ElementType::kBfloat16 ? to_float(*internal::element<const Bfloat16>(address, i))
                                        : *internal::element<const float>(address, i);
}

MOESIM_HD void Elements::store(int64_t i, float value) const {
  if (type == ElementType::kBfloat16) {
    *internal::element<Bfloat16>(address, i) = to_bfloat16(value);
  } else {
    *internal::element<float>(address, i) = value;
  }
}

MOESIM_HD Four Elements::load_four(int64_t i, int count) const {
  Four four;
  if (type == ElementType::kBfloat16) {
    const Bfloat16* at = internal::element<const Bfloat16>(address, i);
    if (internal::is_whole<internal::FourBfloat16s>(at, count)) {
      const auto whole = *reinterpret_cast<const internal::FourBfloat16s*>(at);
      for (int k = 0; k < 4; ++k) {
        four.values[k] = to_float(whole.values[k]);
      }
      return four;
    }
  } else {
    const float* at = internal::element<const float>(address, i);
    if (internal::is_whole<internal::FourFloats>(at, count)) {
      const auto whole = *reinterpret_cast<const internal::FourFloats*>(at);
      for (int k = 0; k < 4; ++k) {
        four.values[k] = whole.values[k];
      }
      return four;
    }
  }
  for (int k = 0; k < 4; ++k) {
    four.values[k] = k < count ? load(i + k) : 0.0F;
  }
  return four;
}

MOESIM_HD void Elements::store_four(int64_t i, int count, const Four& four) const {
  if (type == ElementType::kBfloat16) {
    Bfloat16* at = internal::element<Bfloat16>(address, i);
    if (internal::is_whole<internal::FourBfloat16s>(at, count)) {
      internal::FourBfloat16s whole;
      for (int k = 0; k < 4; ++k) {
        whole.values[k] = to_bfloat16(four.values[k]);
      }
      *reinterpret_cast<internal::FourBfloat16s*>(at) = whole;
      return;
    }
  } else {
    float* at = internal::element<float>(address, i);
    if (internal::is_whole<internal::FourFloats>(at, count)) {
      internal::FourFloats whole;
      for (int k = 0; k < 4; ++k) {
        whole.values[k] = four.values[k];
      }
      *reinterpret_cast<internal::FourFloats*>(at) = whole;
      return;
    }
  }
  for (int k = 0; k < 4; ++k) {
    if (k < count) {
      store(i + k, four.values[k]);
    }
  }
}

// Rows that functions of kernels/core work on are Elements, or floats of the host.
MOESIM_HD bool is_empty(Elements row) {
  return row.address == 0;
}

MOESIM_HD bool is_empty(const float* row) {
  return row == nullptr;
}

MOESIM_HD float load(Elements row, int64_t i) {
  return row.load(i);
}

MOESIM_HD float load(const float* row, int64_t i) {
  return row[i];
}

MOESIM_HD void store(Elements row, int64_t i, float value) {
  row.store(i, value);
}

MOESIM_HD void store(float* row, int64_t i, float value) {
  row[i] = value;
}

MOESIM_HD Four load_four(Elements row, int64_t i, int count) {
  return row.load_four(i, count);
}

MOESIM_HD Four load_four(const float* row, int64_t i, int count) {
  Four four;
  for (int k = 0; k < 4; ++k) {
    four.values[k] = k < count ? row[i + k] : 0.0F;
  }
  return four;
}

MOESIM_HD void store_four(Elements row, int64_t i, int count, const Four& four) {
  row.store_four(i, count, four);
}

MOESIM_HD void store_four(float* row, int64_t i, int count, const Four& four) {
  for (int k = 0; k < 4; ++k) {
    if (k < count) {
      row[i + k] = four.values[k];
    }
  }
}

}  // namespace moesim
