#pragma once

#include "kernels/core/elements.h"

namespace moesim {

// An address of a DeviceStep as CUDA and its libraries take it, and theirs as one.
inline void* device_pointer(DeviceAddress address) {
  return reinterpret_cast<void*>(address);
}

inline DeviceAddress device_address(const void* pointer) {
  return reinterpret_cast<DeviceAddress>(pointer);
}

}  // namespace moesim
