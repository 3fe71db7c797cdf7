#pragma once

#include <string>
#include <utility>

#include <fmt/core.h>

// CHECK(condition) or CHECK(condition, "format {}", values...): a programmer error, always on.
// Prints "file:line: CHECK(condition) failed: message" to stderr and aborts.
// For mistakes of the user, throw Error (sim/base/error.h) instead.
#define CHECK(condition, ...)                                                              \
  do {                                                                                     \
    if (!(condition)) [[unlikely]] {                                                       \
      ::moesim::internal::check_failed(                                                    \
          __FILE__, __LINE__, #condition, ::moesim::internal::check_message(__VA_ARGS__)); \
    }                                                                                      \
  } while (false)

namespace moesim::internal {

[[noreturn]] void check_failed(const char* file,
                               int line,
                               const char* condition,
                               const std::string& message);

inline std::string check_message() {
  return {};
}

template <typename... Values>
std::string check_message(fmt::format_string<Values...> text, Values&&... values) {
  return fmt::format(text, std::forward<Values>(values)...);
}

}  // namespace moesim::internal
