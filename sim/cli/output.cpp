#include "sim/cli/output.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include <fmt/core.h>

namespace moesim {

void print_out(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written || std::fflush(stdout) != 0) {
    throw std::runtime_error(fmt::format("standard output: {}", std::strerror(errno)));
  }
}

}  // namespace moesim
