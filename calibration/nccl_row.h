#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "calibration/nccl_collective.h"

namespace moesim {

// One of the two halves of a row of nccl-tests: time, bandwidths, and the column `#wrong` or
// `error`.
struct NcclHalf {
  double seconds = 0;
  double algbw = 0;  // as printed, in 1e9 bytes per second
  double busbw = 0;
};

// A row of nccl-tests' table. At least one half is there.
struct NcclRow {
  int line = 0;  // in the log, from 1
  std::int64_t bytes = 0;
  std::optional<NcclHalf> out_of_place;
  std::optional<NcclHalf> in_place;

  // Mean of the halves that are there: what is reported for this size.
  [[nodiscard]] double seconds() const;
  // The times of the halves that are there.
  [[nodiscard]] std::vector<double> times() const;
};

// What a line of a table gives: a row, or why there is none; with a row, why a half was left out.
struct NcclRowReading {
  std::optional<NcclRow> row;
  std::string dropped;
};

// Whether a line is meant as a row: a size, and then a count or a data type.
bool looks_like_nccl_row(const std::vector<std::string_view>& words);

// Reads the words of a line. Columns are told apart by their number: after size, count and type
// come an operator (a word, blank in some versions), the root (not in old versions), and one or two
// halves of four. Everything printed is checked against the rest: size = count x type (x ranks),
// algbw = size/time, busbw = factor x algbw, so that shifted and cut columns are not taken for
// times.
NcclRowReading read_nccl_row(const std::vector<std::string_view>& words,
                             const NcclCollective& collective,
                             int ranks);

}  // namespace moesim
