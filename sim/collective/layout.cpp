#include "sim/collective/layout.h"

#include <fmt/core.h>

namespace moesim {

std::string to_string(const Layout& layout) {
  return fmt::format("{} node{} x {} GPU{}",
                     layout.nodes,
                     layout.nodes == 1 ? "" : "s",
                     layout.gpus_per_node,
                     layout.gpus_per_node == 1 ? "" : "s");
}

}  // namespace moesim
