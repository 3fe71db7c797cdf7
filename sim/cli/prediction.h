#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sim/base/time.h"
#include "sim/cli/options.h"
#include "sim/io/inputs.h"

namespace moesim {

// The short answer on one schedule: what sweeps and checks need, without the analyses of time.
struct Prediction {
  Time iteration;
  int forward_degree = 1;  // the largest of all layers
  int backward_degree = 1;
  std::optional<int> non_moe_degree;  // sp_moe
  std::string variant;                // parm: the schedule it chose
  std::int64_t peak_memory_bytes = 0;
  bool fits = true;
};

Prediction predict(const Inputs& inputs, const std::string& schedule, const PlanOptions& plan = {});

}  // namespace moesim
