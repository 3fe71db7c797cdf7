#pragma once

#include <stdexcept>
#include <string_view>

namespace moesim {

// The answer could not be printed: a full disk, a closed stream.
class OutputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Writes to standard output; throws OutputError when that fails.
void print_out(std::string_view text);

// Writes to standard error. A message that nobody can read is lost; the exit code says the rest.
void print_error(std::string_view text) noexcept;

}  // namespace moesim
