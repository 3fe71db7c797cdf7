#include "sim/cli/output.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fmt/core.h>

#include "sim/base/error.h"

namespace moesim {

void print_out(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written || std::fflush(stdout) != 0) {
    throw Failure(fmt::format("cannot write the result to stdout: {}", std::strerror(errno)));
  }
}

void print_error(std::string_view text) noexcept {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace moesim
