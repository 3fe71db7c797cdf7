#pragma once

#include "kernels/core/elements.h"

namespace moesim {

// An address of a DeviceStep as CUDA and its libraries take it.
inline void* device_pointer(DeviceAddress address) {
  return reinterpret_cast<void*>(address);
}

}  // namespace moesim
