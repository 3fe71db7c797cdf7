#pragma once

#include <string>

namespace moesim::test {

// Compares a text with the file tests/golden/NAME: empty when they are equal, else what differs and
// where. With MOESIM_UPDATE_GOLDEN=1 in the environment it writes the file instead: review the
// difference in version control. Runs in the repository root.
std::string golden_difference(const std::string& name, const std::string& text);

}  // namespace moesim::test
