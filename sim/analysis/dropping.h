#pragma once

#include "sim/io/program.h"

namespace moesim {

// The share of tokens' choices that find their expert's capacity full, over all ranks and the
// forward gates of a Program; 0 where routing is balanced or nothing is dropped.
double dropped_share(const Program& program);

}  // namespace moesim
