#pragma once

#include <string>

#include "sim/base/random.h"

namespace moesim {

// One to three of: cut off, a byte replaced, a piece removed, doubled or moved, a number changed.
std::string mutate(std::string text, Random& random);

}  // namespace moesim
