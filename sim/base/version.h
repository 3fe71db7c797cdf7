#pragma once

#include <string_view>

namespace moesim {

// The version of moesim that made a result, "0.1.0"; set by the build.
std::string_view version();

}  // namespace moesim
