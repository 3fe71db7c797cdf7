#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/base/error.h"
#include "sim/io/internal/value.h"

namespace moesim::io {

enum class Format { kText, kJson };

// Where the text begins: behind a byte order mark, which editors may put before UTF-8.
std::size_t content_start(std::string_view text);

// JSON when the first character that is no space is '{', whatever the file is called.
Format detect_format(const std::string& text);

// What a document was read from, to say where something stands in it.
struct Source {
  std::string path;
  Format format = Format::kText;
  std::vector<std::string> overrides;  // as given to --set, by Position::override_index

  // "path:line:column" in text format, "path: field" in JSON, "--set field=value" for an override.
  [[nodiscard]] Error error(const Position& position,
                            const std::string& field,
                            const std::string& text) const;
};

}  // namespace moesim::io
