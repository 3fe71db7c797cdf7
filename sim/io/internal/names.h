#pragma once

#include <string>
#include <vector>

#include "sim/io/internal/fields.h"

namespace moesim::io {

// The values of a list of texts; throws Error where one stands twice.
std::vector<std::string> unique_texts(const Fields& fields, const char* name);

}  // namespace moesim::io
