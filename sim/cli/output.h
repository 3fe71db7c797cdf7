#pragma once

#include <string_view>

namespace moesim {

// Writes to standard output; throws Failure when that fails (a full disk, a closed stream).
void print_out(std::string_view text);

// Writes to standard error. A message that nobody can read is lost; the exit code says the rest.
void print_error(std::string_view text) noexcept;

}  // namespace moesim
