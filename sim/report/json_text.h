#pragma once

#include <string>
#include <string_view>

namespace moesim {

// A JSON string literal with its quotes; bytes that are no UTF-8 become U+FFFD.
std::string json_quoted(std::string_view text);

}  // namespace moesim
