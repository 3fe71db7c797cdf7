#pragma once

#include <optional>
#include <vector>

#include "sim/schedule/schedule.h"

namespace moesim {

// True when a degree is given for all layers or layer by layer.
bool is_given(const std::optional<int>& degree, const std::vector<int>& per_layer);

// Puts what the scenario gives over what was chosen.
Degrees with_given(Degrees degrees, const DegreeConfig& given);

// The degrees that a Program was built with: chunks of its experts, per layer. A buffer of fewer
// rows than the degree asked for has fewer chunks. Built with these, it is the same Program.
Degrees built_degrees(const Program& program, Degrees degrees);

}  // namespace moesim
