#include "sim/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace moesim::internal {

void check_failed(const char* file, int line, const char* condition, const std::string& message) {
  const std::string text = fmt::format(
      "{}:{}: CHECK({}) failed{}{}\n", file, line, condition, message.empty() ? "" : ": ", message);
  std::fputs(text.c_str(), stderr);  // unlike fmt::print it does not throw where stderr is closed
  std::abort();
}

}  // namespace moesim::internal
