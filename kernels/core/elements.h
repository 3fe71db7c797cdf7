#pragma once

#include <cstdint>
#include <cstring>

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

// Neighbours, loaded and stored at once where they are aligned: as many BF16 as the widest access
// of a thread has, 16 bytes, or twice as many bytes of FP32 by two accesses.
inline constexpr int kPackSize = 8;
struct Pack {
  float values[kPackSize] = {};
};

// Floating elements one behind the other. The type is a value: all threads of a block take the same
// branch, and what a kernel waits for is memory.
struct Elements {
  DeviceAddress address = 0;
  ElementType type = ElementType::kFloat32;

  MOESIM_HD Elements from(int64_t i) const;
  MOESIM_HD float load(int64_t i) const;
  MOESIM_HD void store(int64_t i, float value) const;
  // `count` of [i, i + kPackSize) take part, the first ones; others are 0 and not stored.
  MOESIM_HD Pack load_pack(int64_t i, int count) const;
  MOESIM_HD void store_pack(int64_t i, int count, const Pack& pack) const;
};

namespace internal {

template <typename Element>
MOESIM_HD Element* element(DeviceAddress address, int64_t i) {
  return reinterpret_cast<Element*>(address) + i;
}

// What one access of a thread takes, of whatever elements.
struct alignas(16) [[gnu::may_alias]] Access {
  uint32_t words[4];
};

MOESIM_HD bool is_whole(const void* at, int count) {
  return count == kPackSize && reinterpret_cast<DeviceAddress>(at) % sizeof(Access) == 0;
}

// A device is told that elements are never in a block's shared memory: an address does not say.
MOESIM_HD void assume_global([[maybe_unused]] const void* at) {
#ifdef __CUDA_ARCH__
  __builtin_assume(__isGlobal(at));
#endif
}

MOESIM_HD Access load_access(const void* at) {
  assume_global(at);
  return *static_cast<const Access*>(at);
}

MOESIM_HD void store_access(void* at, const Access& access) {
  assume_global(at);
  *static_cast<Access*>(at) = access;
}

// Of two neighbours in a word the lower half is the first.
MOESIM_HD Pack load_whole(const Bfloat16* at) {
  const Access access = load_access(at);
  Pack pack;
  for (int k = 0; k < kPackSize; ++k) {
    const uint32_t half = access.words[k / 2] >> (k % 2 == 0 ? 0U : 16U);
    pack.values[k] = to_float({static_cast<uint16_t>(half & 0xFFFFU)});
  }
  return pack;
}

MOESIM_HD void store_whole(Bfloat16* at, const Pack& pack) {
  Access access;
  for (int k = 0; k < kPackSize; k += 2) {
    const uint32_t second = to_bfloat16(pack.values[k + 1]).bits;
    access.words[k / 2] = second << 16U | to_bfloat16(pack.values[k]).bits;
  }
  store_access(at, access);
}

MOESIM_HD Pack load_whole(const float* at) {
  const Access accesses[2] = {load_access(at), load_access(at + kPackSize / 2)};
  Pack pack;
  std::memcpy(pack.values, accesses, sizeof(accesses));
  return pack;
}

MOESIM_HD void store_whole(float* at, const Pack& pack) {
  Access accesses[2];
  std::memcpy(accesses, pack.values, sizeof(accesses));
  store_access(at, accesses[0]);
  store_access(at + kPackSize / 2, accesses[1]);
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

MOESIM_HD Pack Elements::load_pack(int64_t i, int count) const {
  if (type == ElementType::kBfloat16) {
    if (const auto* at = internal::element<const Bfloat16>(address, i);
        internal::is_whole(at, count)) {
      return internal::load_whole(at);
    }
  } else if (const auto* at = internal::element<const float>(address, i);
             internal::is_whole(at, count)) {
    return internal::load_whole(at);
  }
  Pack pack;
  for (int k = 0; k < kPackSize; ++k) {
    pack.values[k] = k < count ? load(i + k) : 0.0F;
  }
  return pack;
}

MOESIM_HD void Elements::store_pack(int64_t i, int count, const Pack& pack) const {
  if (type == ElementType::kBfloat16) {
    if (auto* at = internal::element<Bfloat16>(address, i); internal::is_whole(at, count)) {
      internal::store_whole(at, pack);
      return;
    }
  } else if (auto* at = internal::element<float>(address, i); internal::is_whole(at, count)) {
    internal::store_whole(at, pack);
    return;
  }
  for (int k = 0; k < kPackSize; ++k) {
    if (k < count) {
      store(i + k, pack.values[k]);
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

MOESIM_HD Pack load_pack(Elements row, int64_t i, int count) {
  return row.load_pack(i, count);
}

MOESIM_HD Pack load_pack(const float* row, int64_t i, int count) {
  return Elements{reinterpret_cast<DeviceAddress>(row)}.load_pack(i, count);
}

MOESIM_HD void store_pack(Elements row, int64_t i, int count, const Pack& pack) {
  row.store_pack(i, count, pack);
}

MOESIM_HD void store_pack(float* row, int64_t i, int count, const Pack& pack) {
  Elements{reinterpret_cast<DeviceAddress>(row)}.store_pack(i, count, pack);
}

}  // namespace moesim
