#include "sim/io/internal/source.h"

#include <utility>

#include <fmt/core.h>

namespace moesim::io {
namespace {

std::string location(const Source& source, const Position& position, const std::string& field) {
  if (position.override_index >= 0) {
    return "--set " + source.overrides[static_cast<std::size_t>(position.override_index)];
  }
  if (source.format == Format::kJson) {
    return field.empty() ? source.path : source.path + ": " + field;
  }
  return fmt::format("{}:{}:{}", source.path, position.line, position.column);
}

}  // namespace

Format detect_format(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string::npos && text[first] == '{' ? Format::kJson : Format::kText;
}

Error Source::error(const Position& position, const std::string& field, std::string text) const {
  return {location(*this, position, field), std::move(text)};
}

}  // namespace moesim::io
