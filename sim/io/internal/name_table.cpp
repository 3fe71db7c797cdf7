#include "sim/io/internal/name_table.h"

#include <fmt/core.h>

#include "sim/base/message.h"
#include "sim/io/program.h"
#include "sim/io/suggestion.h"

namespace moesim::io {

std::string NameTable::add(const Fields& thing) {
  std::string name = thing.text("name");
  const auto index = static_cast<int>(names_.size());
  if (!indices_.emplace(name, index).second) {
    throw thing.error("name", fmt::format("a second {} {}; rename one", kind_, in_quotes(name)));
  }
  names_.push_back(name);
  return name;
}

std::string NameTable::unknown(const std::string& name) const {
  if (names_.empty()) {
    return fmt::format("no {} {}: the Program has none; add it", kind_, in_quotes(name));
  }
  return fmt::format("no {} {}; {}", kind_, in_quotes(name), suggestion(name, names_));
}

int NameTable::find(const Fields& fields, const char* field) const {
  const std::string name = fields.text(field);
  const auto found = indices_.find(name);
  if (found == indices_.end()) {
    throw fields.error(field, unknown(name));
  }
  return found->second;
}

int NameTable::find(const Fields& fields, const char* field, int index) const {
  const std::string name = fields.text(field, index);
  const auto found = indices_.find(name);
  if (found == indices_.end()) {
    throw fields.error(field, index, unknown(name));
  }
  return found->second;
}

int NameTable::find_or_none(const Fields& fields, const char* field) const {
  return fields.has(field) ? find(fields, field) : kNone;
}

const std::string& NameTable::name(int index) const {
  return names_[static_cast<std::size_t>(index)];
}

}  // namespace moesim::io
