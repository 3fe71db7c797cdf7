#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sim/cluster/topology.h"

namespace moesim {

// Links by the parts that they join, as files name them: "node:7/nic:2" (all links of that part),
// or "node:7/gpu:0 -- node:7/nvswitch:1" (those between the two); * stands for any number.
class LinkSelector {
 public:
  // Throws Error at `location` where the text names no part.
  LinkSelector(std::string_view text, const std::string& location);

  bool matches(const Topology& topology, const Link& link) const;

 private:
  // "node:7/nic:2", "switch:1/*": a kind, and what its two numbers must be.
  struct Part {
    ElementKind kind = ElementKind::kGpu;
    std::optional<int> outer;  // the node, or the level of a switch; empty: any
    std::optional<int> index;

    bool matches(const Element& element) const;
  };
  friend class LinkSelectorParser;

  Part one_;
  std::optional<Part> other_;
};

}  // namespace moesim
