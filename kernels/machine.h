#pragma once

#include <cstdint>

namespace moesim {

// Bytes of memory that this machine could give without swapping.
int64_t available_memory();

}  // namespace moesim
