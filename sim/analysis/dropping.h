#pragma once

#include "sim/io/program.h"

namespace moesim {

// The pairs of a token and an expert that experts compute, over those that tokens choose (k each),
// over all ranks and the forward gates of a Program. Below 1 where capacities are too small, above
// it only where experts choose tokens and have room for more; 1 without gates.
double kept_share(const Program& program);

// The share of tokens' choices that find their expert's capacity full; 0 where experts choose.
double dropped_share(const Program& program);

}  // namespace moesim
