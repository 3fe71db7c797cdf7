#pragma once

#include "sim/io/profile.h"
#include "sim/io/scenario.h"

namespace moesim::validation {

struct BestDegrees {
  int forward = 1;
  int backward = 1;
};

// The degrees of 1..kMaxDegree at which FSMoE's closed form is least, without a gradient slice, for
// k*f*B*L*M taken as it is: neither whole rows nor uneven chunks (FSMoE, section 4).
BestDegrees best_unrounded_degrees(const Scenario& scenario, const Profile& profile);

}  // namespace moesim::validation
