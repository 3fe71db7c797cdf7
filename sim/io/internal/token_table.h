#pragma once

#include <vector>

#include "sim/io/internal/fields.h"

namespace moesim::io {

// The field "tokens" as [source rank][expert]: rows of equal length. Throws Error.
std::vector<std::vector<int>> read_token_table(const Fields& fields);

}  // namespace moesim::io
