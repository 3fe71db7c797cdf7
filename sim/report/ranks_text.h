#pragma once

#include <string>
#include <vector>

#include "sim/io/trace.h"

namespace moesim {

// Ranks in ascending order as ranges: "0-7, 16-23", at most four of them: "0, 2, 4, 6, ...".
std::string ranks_text(const std::vector<int>& ranks);

// "rank 0", or "rank 0 (stands for 24 ranks: 0-7, 16-31)".
std::string class_text(const RankClass& rank_class);

}  // namespace moesim
