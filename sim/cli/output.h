#pragma once

#include <string_view>

namespace moesim {

// Writes to standard output, and throws std::runtime_error when that fails (a full disk).
void print_out(std::string_view text);

}  // namespace moesim
