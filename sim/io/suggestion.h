#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace moesim {

// What to do about a name that is not among `candidates`: `did you mean "sequence"?` where one is
// close, else `use one of a, b, c`.
std::string suggestion(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace moesim
