#pragma once

#include <string>
#include <vector>

#include "sim/io/internal/field_path.h"
#include "sim/io/internal/value.h"

namespace moesim::io {

// The file that an override changes.
enum class OverrideTarget { kScenario, kCluster, kProfile };

// One --set: a field of a file and the text of its new value.
struct Override {
  OverrideTarget target = OverrideTarget::kScenario;
  std::vector<Step> steps;  // in that file: without the first of "cluster.num_nodes"
  std::string value;
  std::string text;  // as given
};

// Reads "model.sequence=2048". A first component `cluster` or `profile` with more behind it names
// the cluster's or profile's file; "cluster=FILE" is the scenario's own field. Throws Error.
std::vector<Override> parse_overrides(const std::vector<std::string>& texts);

// Those of one file, in their order.
std::vector<Override> overrides_of(OverrideTarget target, const std::vector<std::string>& texts);

// What is wrong with a field as the left side of an override, with what to do about it; empty when
// it is one.
std::string override_field_problem(const std::string& field);

// Sets the field in the document, creating the objects around it: its index becomes the position of
// what it writes. Throws Error where the path leads through something that has no fields.
void apply_override(Value& root, const Override& override, int index);

}  // namespace moesim::io
