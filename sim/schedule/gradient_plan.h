#pragma once

#include <vector>

namespace moesim {

// Where the AllReduce of the dense gradient goes, as numbers of rows of the flat gradient, one
// AllReduce per entry. Rows are taken in back-propagation order, so a slot of layer l can only
// carry gradients of layers above l. What a plan leaves over follows the last attention.
struct GradientSlots {
  std::vector<int> region;  // inside the MoE region, right after the last dispatch
  std::vector<int> dense;   // beside attention and its mp collectives
  std::vector<int> after;   // after the layer's own attention backward
};

struct GradientPlan {
  std::vector<GradientSlots> layers;
};

}  // namespace moesim
