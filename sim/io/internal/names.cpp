#include "sim/io/internal/names.h"

#include <algorithm>

#include <fmt/core.h>

namespace moesim::io {

std::vector<std::string> unique_texts(const Fields& fields, const char* name) {
  std::vector<std::string> values = fields.texts(name);
  for (auto value = values.begin(); value != values.end(); ++value) {
    if (std::find(values.begin(), value, *value) != value) {
      const auto index = static_cast<int>(value - values.begin());
      throw fields.error(name, index, fmt::format("\"{}\" twice; remove one", *value));
    }
  }
  return values;
}

}  // namespace moesim::io
