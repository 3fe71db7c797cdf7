#include "sim/io/internal/document.h"

#include <filesystem>
#include <utility>

#include <google/protobuf/message.h>

#include "sim/io/internal/field_path.h"
#include "sim/io/internal/fields.h"
#include "sim/io/internal/json_parser.h"
#include "sim/io/internal/message_filler.h"
#include "sim/io/internal/text_parser.h"

namespace moesim::io {

Document::Document(Schema schema,
                   const std::string& text,
                   std::string path,
                   const std::vector<Override>& overrides)
    : message_(make_message(schema)) {
  source_ = {.path = std::move(path), .format = detect_format(text), .overrides = {}};
  root_ = source_.format == Format::kJson ? parse_json(text, source_.path)
                                          : parse_text(text, source_.path);
  for (const Override& override : overrides) {
    apply_override(root_, override, static_cast<int>(source_.overrides.size()));
    source_.overrides.push_back(override.text);
  }
  fill_message(*message_, root_, source_);
}

Document::~Document() = default;

std::string Document::stem() const {
  return std::filesystem::path(source_.path).stem().string();
}

Fields Document::root() const {
  return {*this, *message_, ""};
}

bool Document::is_overridden(const std::string& field_path) const {
  return find_position(root_, field_path).override_index >= 0;
}

Error Document::error(const std::string& field_path, const std::string& text) const {
  return source_.error(find_position(root_, field_path), field_path, text);
}

}  // namespace moesim::io
