#pragma once

#include <cstdint>

namespace moesim {

// Bytes that the system could give without swapping.
int64_t available_memory();

}  // namespace moesim
