#pragma once

#include <cstdint>
#include <limits>

#include "sim/io/internal/fields.h"

// What a file may ask for. Beyond these lies a typing mistake, not a machine or a model.
namespace moesim::io {

inline constexpr int kMaxInt = std::numeric_limits<std::int32_t>::max();
inline constexpr int kMaxRanks = 1 << 20;
inline constexpr int kMaxLayers = 10'000;
inline constexpr int kMaxMicroBatches = 10'000;

// One tensor, or what one rank gives to one collective: 1 TB. At the slowest rate that a profile
// may state, 1 MB/s, it still takes a time that fits in Time.
inline constexpr std::int64_t kMaxBytes = 1'000'000'000'000;

inline constexpr IntegerRange kRankCount = {1, kMaxRanks};
inline constexpr IntegerRange kAtLeastZero = {0, kMaxInt};
inline constexpr IntegerRange kAtLeastOne = {1, kMaxInt};

}  // namespace moesim::io
