#include "sim/report/ranks_text.h"

#include <algorithm>

#include <fmt/core.h>

namespace moesim {

std::string ranks_text(const std::vector<int>& ranks) {
  constexpr int kMaxRanges = 4;
  std::vector<int> sorted = ranks;
  std::sort(sorted.begin(), sorted.end());
  std::string text;
  int num_ranges = 0;
  for (std::size_t first = 0; first < sorted.size();) {
    std::size_t last = first;
    while (last + 1 < sorted.size() && sorted[last + 1] == sorted[last] + 1) {
      ++last;
    }
    if (num_ranges++ == kMaxRanges) {
      return text + ", ...";
    }
    text += text.empty() ? "" : ", ";
    text += first == last ? fmt::format("{}", sorted[first])
                          : fmt::format("{}-{}", sorted[first], sorted[last]);
    first = last + 1;
  }
  return text;
}

std::string class_text(const RankClass& rank_class) {
  if (rank_class.ranks.size() < 2) {
    return fmt::format("rank {}", rank_class.representative);
  }
  return fmt::format("rank {} (stands for {} ranks: {})",
                     rank_class.representative,
                     rank_class.ranks.size(),
                     ranks_text(rank_class.ranks));
}

}  // namespace moesim
