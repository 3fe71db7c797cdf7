#pragma once

#include <compare>
#include <string>

namespace moesim {

// How the ranks of a group sit: on `nodes` nodes, as many on each.
struct Layout {
  int nodes = 1;
  int gpus_per_node = 1;

  [[nodiscard]] int size() const { return nodes * gpus_per_node; }

  friend auto operator<=>(const Layout&, const Layout&) = default;
};

// "10 nodes x 4 GPUs"
std::string to_string(const Layout& layout);

}  // namespace moesim
