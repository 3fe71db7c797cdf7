#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace moesim {

// Parts of a cluster, as files name them: "node:7/nic:2", "switch:1/*" (level and index); * stands
// for any number.
struct PartSelector {
  std::string kind;          // "nic", "switch"
  std::optional<int> outer;  // the node, or the level of a switch; empty: any
  std::optional<int> index;  // among its kind there
};

// Nothing where `text` is no such name. Kinds are not checked.
std::optional<PartSelector> parse_part_selector(std::string_view text);

}  // namespace moesim
