#include "sim/io/internal/token_table.h"

#include <algorithm>

#include <fmt/core.h>

#include "sim/io/internal/limits.h"

namespace moesim::io {

std::vector<std::vector<int>> read_token_table(const Fields& fields) {
  std::vector<std::vector<int>> tokens;
  for (const Fields& row : fields.children("tokens")) {
    tokens.push_back(row.integers("counts", {-kMaxInt, kMaxInt}));
    const int index = static_cast<int>(tokens.size()) - 1;
    if (std::any_of(
            tokens.back().begin(), tokens.back().end(), [](int count) { return count < 0; })) {
      throw fields.error("tokens", index, "a count of tokens is negative; write 0 or more");
    }
    if (tokens.back().empty() || tokens.back().size() != tokens.front().size()) {
      throw fields.error("tokens",
                         index,
                         fmt::format("{} counts here and {} in the first row; write one for each "
                                     "expert",
                                     tokens.back().size(),
                                     tokens.front().size()));
    }
  }
  return tokens;
}

}  // namespace moesim::io
