#pragma once

#include "sim/schedule/definitions.h"

namespace moesim {

// True when a degree is given for all layers or layer by layer.
bool is_given(const std::optional<int>& degree, const std::vector<int>& per_layer);

// Puts what the scenario gives over what was chosen.
Degrees with_given(Degrees degrees, const DegreeConfig& given);

// The degrees that a Program was built with: chunks of its experts, per layer. A buffer of fewer
// rows than the degree asked for has fewer chunks.
Degrees built_degrees(const Program& program, Degrees degrees);

// Policy `search`: simulates the degrees 1 .. kMaxDegree that `given` leaves open and takes the
// fastest that fits the memory, or the fastest of all where none does; of equal ones the smallest.
Plan search_degrees(const ScheduleDefinition& definition,
                    const Scenario& scenario,
                    const DegreeConfig& given,
                    const Evaluator& evaluator);

}  // namespace moesim
