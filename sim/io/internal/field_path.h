#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/io/internal/value.h"

namespace moesim::io {

// One step of a path such as "collectives[2].startup": a field, and its index where it is repeated.
struct Step {
  std::string name;
  int index = -1;  // -1: not given
};

// Nothing where `text` is no path.
std::optional<std::vector<Step>> parse_field_path(const std::string& text);

// The step's value in an object, or null. In the text format the values of a repeated field may be
// spread over several fields; an index counts through all of them.
const Value* find_step(const Value& object, const Step& step);
Value* find_step(Value& object, const Step& step);

// Where a field stands, or, where the document does not have it, the closest object around it.
Position find_position(const Value& root, const std::string& field_path);

}  // namespace moesim::io
