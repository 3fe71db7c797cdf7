#include "sim/io/internal/source.h"

#include <fmt/core.h>

#include "sim/base/message.h"

namespace moesim::io {
namespace {

std::string location(const Source& source, const Position& position, const std::string& field) {
  if (position.override_index >= 0) {
    const auto index = static_cast<std::size_t>(position.override_index);
    return "--set " + abbreviated(source.overrides[index]);
  }
  if (source.format == Format::kJson) {
    return field.empty() ? source.path : source.path + ": " + abbreviated(field);
  }
  return fmt::format("{}:{}:{}", source.path, position.line, position.column);
}

}  // namespace

std::size_t content_start(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  return text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
}

Format detect_format(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n", content_start(text));
  return first != std::string::npos && text[first] == '{' ? Format::kJson : Format::kText;
}

Error Source::error(const Position& position,
                    const std::string& field,
                    const std::string& text) const {
  return {location(*this, position, field), text};
}

}  // namespace moesim::io
