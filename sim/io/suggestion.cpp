#include "sim/io/suggestion.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <numeric>
#include <utility>

#include <fmt/core.h>

#include "sim/base/message.h"

namespace moesim {
namespace {

constexpr std::size_t kMaxListed = 20;

char lower(char character) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(character)));
}

// The least number of characters to insert, remove, replace or swap with the next between two
// names, whatever their case (Damerau and Levenshtein), a row of the table at a time.
std::size_t distance(std::string_view left, std::string_view right) {
  const auto same = [&](std::size_t i, std::size_t j) { return lower(left[i]) == lower(right[j]); };
  std::vector<std::size_t> row(right.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  std::vector<std::size_t> above;
  for (std::size_t i = 0; i < left.size(); ++i) {
    const std::vector<std::size_t> two_above = std::exchange(above, row);
    row[0] = i + 1;
    for (std::size_t j = 0; j < right.size(); ++j) {
      row[j + 1] = std::min({above[j] + (same(i, j) ? 0 : 1), row[j] + 1, above[j + 1] + 1});
      if (i > 0 && j > 0 && same(i, j - 1) && same(i - 1, j)) {
        row[j + 1] = std::min(row[j + 1], two_above[j - 1] + 1);
      }
    }
  }
  return row.back();
}

std::string list(const std::vector<std::string>& candidates) {
  std::string text;
  for (std::size_t i = 0; i < std::min(candidates.size(), kMaxListed); ++i) {
    text += (i == 0 ? "" : ", ") + abbreviated(candidates[i]);
  }
  return candidates.size() > kMaxListed ? text + ", …" : text;
}

}  // namespace

std::string suggestion(std::string_view name, const std::vector<std::string>& candidates) {
  if (candidates.empty()) {
    return "remove it";
  }
  // A third of the name may be wrong, or one character, but not all. Longer names are not compared.
  constexpr std::size_t kLongName = 200;
  std::size_t best = std::min(std::max<std::size_t>(1, name.size() / 3) + 1, name.size());
  const std::string* nearest = nullptr;
  for (const std::string& candidate : candidates) {
    if (name.size() > kLongName || candidate.size() > kLongName) {
      continue;
    }
    const std::size_t found = distance(name, candidate);
    if (found < best) {
      best = found;
      nearest = &candidate;
    }
  }
  return nearest != nullptr ? fmt::format("did you mean {}?", in_quotes(*nearest))
                            : fmt::format("use one of {}", list(candidates));
}

}  // namespace moesim
