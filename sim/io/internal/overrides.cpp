#include "sim/io/internal/overrides.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "sim/base/check.h"
#include "sim/base/error.h"
#include "sim/base/message.h"
#include "sim/io/internal/schemas.h"

namespace moesim::io {
namespace {

[[noreturn]] void fail(const std::string& text, const std::string& what) {
  throw Error("--set " + abbreviated(text), what);
}

// Which file a path means; removes the component that says so.
OverrideTarget take_target(std::vector<Step>& steps) {
  const Step first = steps.front();
  const bool cluster = first.name == "cluster";
  if (steps.size() == 1 || first.index >= 0 || (!cluster && first.name != "profile")) {
    return OverrideTarget::kScenario;
  }
  steps.erase(steps.begin());
  return cluster ? OverrideTarget::kCluster : OverrideTarget::kProfile;
}

Schema schema_of(OverrideTarget target) {
  switch (target) {
    case OverrideTarget::kScenario:
      return Schema::kScenario;
    case OverrideTarget::kCluster:
      return Schema::kCluster;
    case OverrideTarget::kProfile:
      return Schema::kProfile;
  }
  CHECK(false, "no such target");
}

Override parse_override(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) {
    fail(text, "the value is missing; write FIELD=VALUE, such as model.sequence=2048");
  }
  std::optional<std::vector<Step>> steps = parse_field_path(text.substr(0, equals));
  if (!steps) {
    fail(text, "no path of a field stands before the =; write one such as model.sequence=2048");
  }
  Override result = {
      .target = take_target(*steps), .steps = {}, .value = text.substr(equals + 1), .text = text};
  result.steps = std::move(*steps);
  return result;
}

// The object that the step leads to, created where the document does not have it.
Value& enter(Value& object, const Step& step, const Override& override, int index) {
  if (step.index < 0 && find_step(object, {.name = step.name, .index = 1}) != nullptr) {
    fail(override.text, fmt::format("{} is a list; name one as {}[0]", step.name, step.name));
  }
  if (Value* found = find_step(object, step)) {
    if (found->kind != ValueKind::kObject) {
      fail(override.text, fmt::format("{} has no fields; set it as a whole", step.name));
    }
    return *found;
  }
  if (step.index > 0) {
    fail(override.text,
         fmt::format("there is no {}[{}]; use a smaller index", step.name, step.index));
  }
  const Position position = {.override_index = index};
  object.fields.push_back(
      {.name = step.name, .position = position, .value = make_value(ValueKind::kObject, position)});
  return object.fields.back().value;
}

}  // namespace

std::vector<Override> parse_overrides(const std::vector<std::string>& texts) {
  std::vector<Override> overrides;
  overrides.reserve(texts.size());
  for (const std::string& text : texts) {
    overrides.push_back(parse_override(text));
  }
  return overrides;
}

std::vector<Override> overrides_of(OverrideTarget target, const std::vector<std::string>& texts) {
  std::vector<Override> overrides = parse_overrides(texts);
  std::erase_if(overrides, [target](const Override& one) { return one.target != target; });
  return overrides;
}

std::string override_field_problem(const std::string& field) {
  std::optional<std::vector<Step>> steps = parse_field_path(field);
  if (!steps) {
    return fmt::format("{} is no path of a field; write one such as model.sequence",
                       in_quotes(field));
  }
  const OverrideTarget target = take_target(*steps);
  return field_problem(schema_of(target), *steps);
}

void apply_override(Value& root, const Override& override, int index) {
  Value* object = &root;
  for (std::size_t i = 0; i + 1 < override.steps.size(); ++i) {
    object = &enter(*object, override.steps[i], override, index);
  }
  const Step& last = override.steps.back();
  if (last.index >= 0) {
    fail(override.text, fmt::format("{} is set as a whole: write {}=a,b,c", last.name, last.name));
  }
  std::erase_if(object->fields, [&last](const Field& field) { return field.name == last.name; });
  const Position position = {.override_index = index};
  object->fields.push_back({.name = last.name,
                            .position = position,
                            .value = make_value(ValueKind::kRaw, position, override.value)});
}

}  // namespace moesim::io
