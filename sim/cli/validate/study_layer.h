#pragma once

#include <optional>

#include "sim/io/scenario.h"

namespace moesim::validation {

// The sizes in which the layers of every published or assumed grid differ.
struct StudyLayer {
  int batch = 0;
  int sequence = 0;
  int embedding = 0;
  int hidden_ratio = 0;                   // H / M
  std::optional<double> capacity_factor;  // absent: no token is dropped, routing is balanced
};

// Makes the scenario's layers these, with what the grids have in common: 32 heads, which enter no
// cost, top-2 gates, simple feed-forward layers, full attention, no recomputation, no optimizer,
// degrees left open. A study sets what it does otherwise afterwards.
void set_layer(const StudyLayer& layer, int experts, Scenario& scenario);

}  // namespace moesim::validation
