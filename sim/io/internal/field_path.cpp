#include "sim/io/internal/field_path.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <string_view>

#include "sim/base/check.h"

namespace moesim::io {
namespace {

std::optional<Step> parse_step(std::string_view text) {
  const std::size_t bracket = text.find('[');
  Step step = {.name = std::string(text.substr(0, bracket)), .index = -1};
  if (step.name.empty()) {
    return std::nullopt;
  }
  if (bracket == std::string_view::npos) {
    return step;
  }
  const char* last = text.data() + text.size() - 1;
  const auto [end, error] = std::from_chars(text.data() + bracket + 1, last, step.index);
  if (*last != ']' || end != last || error != std::errc() || step.index < 0) {
    return std::nullopt;
  }
  return step;
}

template <typename SomeValue>
SomeValue* find_in(SomeValue& object, const Step& step) {
  int index = step.index < 0 ? 0 : step.index;
  for (auto& field : object.fields) {
    if (field.name != step.name) {
      continue;
    }
    if (field.value.kind == ValueKind::kRaw) {
      return &field.value;  // of an override: it holds every value of the list
    }
    if (field.value.kind != ValueKind::kList || step.index < 0) {
      if (index-- == 0) {
        return &field.value;
      }
      continue;
    }
    const auto size = static_cast<int>(field.value.items.size());
    if (index < size) {
      return &field.value.items[static_cast<std::size_t>(index)];
    }
    index -= size;
  }
  return nullptr;
}

}  // namespace

std::optional<std::vector<Step>> parse_field_path(const std::string& text) {
  std::vector<Step> steps;
  for (std::size_t first = 0; first <= text.size();) {
    const std::size_t dot = std::min(text.find('.', first), text.size());
    const std::optional<Step> step = parse_step(std::string_view(text).substr(first, dot - first));
    if (!step) {
      return std::nullopt;
    }
    steps.push_back(*step);
    first = dot + 1;
  }
  return steps;
}

const Value* find_step(const Value& object, const Step& step) {
  return find_in(object, step);
}

Value* find_step(Value& object, const Step& step) {
  return find_in(object, step);
}

Position find_position(const Value& root, const std::string& field_path) {
  const Value* value = &root;
  if (!field_path.empty()) {
    const std::optional<std::vector<Step>> steps = parse_field_path(field_path);
    CHECK(steps, "{} is no path of a field", field_path);
    for (const Step& step : *steps) {
      const Value* next = find_step(*value, step);
      if (next == nullptr) {
        break;
      }
      value = next;
    }
  }
  return value->position;
}

}  // namespace moesim::io
