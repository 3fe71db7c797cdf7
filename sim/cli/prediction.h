#pragma once

#include <optional>
#include <string>

#include "sim/base/time.h"
#include "sim/cli/options.h"
#include "sim/io/inputs.h"

namespace moesim {

// The short answer on one schedule: what sweeps and checks need, without the analyses.
struct Prediction {
  Time iteration;
  int forward_degree = 1;  // the largest of all layers
  int backward_degree = 1;
  std::optional<int> non_moe_degree;  // sp_moe
};

Prediction predict(const Inputs& inputs, const std::string& schedule, const PlanOptions& plan = {});

}  // namespace moesim
